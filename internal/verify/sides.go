package verify

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/task"
	"github.com/leatdata/leat/job"
)

// sides are the two ends of a job, both opened for reading.
type sides struct {
	source, target *side
	key            []string
	// once says that the source cannot be read a second time.
	once bool
}

// side is what is read on one end, and how its cells become comparable.
type side struct {
	name   string
	source connector.Source
	schema *batch.Schema
	// mapper makes of the source's records what a run would; nil on the target's side.
	mapper *task.Mapper
	// columns are the places of the compared columns in the mapped schema, from
	// their types, to those of the target.
	columns []int
	from    []batch.Type
	to      *batch.Schema
	// key are the places of the key's columns among those compared.
	key []int
}

func (s *sides) close(log *slog.Logger) {
	for _, side := range []*side{s.source, s.target} {
		if side == nil || side.source == nil {
			continue
		}
		if err := side.source.Close(); err != nil {
			log.Warn("close", "side", side.name, "error", err)
		}
	}
}

// openSides opens both ends and matches their columns. Nothing is changed.
func openSides(ctx context.Context, j *job.Job, opts Options, log *slog.Logger) (*sides, error) {
	if j.Sink.Definition.Sink.Readback == nil {
		return nil, connector.Errorf(connector.Usage, "what a %s holds cannot be read back", j.Sink.Connector)
	}
	s := &sides{once: option.Identity(j.Source.Options)["path"] == `["-"]`}
	err := s.open(ctx, j, opts, log)
	if err != nil {
		s.close(log)
		return nil, err
	}
	return s, nil
}

func (s *sides) open(ctx context.Context, j *job.Job, opts Options, log *slog.Logger) error {
	plan, err := s.openSource(ctx, j, log)
	if err != nil {
		return err
	}
	if err := s.openTarget(ctx, j, plan, log); err != nil {
		return wrap("target", err)
	}
	s.key = opts.Key
	for _, known := range [][]string{s.target.schema.Key, plan.Schema.Key, s.source.mapper.Out().Key} {
		if len(s.key) == 0 && checkKey(known, plan.Schema.Names()) == nil {
			s.key = known
		}
	}
	if err := checkKey(s.key, plan.Schema.Names()); err != nil {
		return err
	}
	for _, name := range s.key {
		s.source.key = append(s.source.key, plan.Schema.Index(name))
		s.target.key = append(s.target.key, plan.Schema.Index(name))
	}
	return nil
}

// openSource makes the source and the mapping that a run would make of it.
func (s *sides) openSource(ctx context.Context, j *job.Job, log *slog.Logger) (*connector.Plan, error) {
	src, pushed, err := makeSource(j, log)
	if err != nil {
		return nil, wrap("source", err)
	}
	s.source = &side{name: "source", source: src}
	own, err := src.Schema(ctx)
	if err == nil {
		s.source.schema, err = j.ColumnsFor(ctx, own, log)
	}
	if err != nil {
		return nil, wrap("source", err)
	}
	columns, err := mapping(j, s.source.schema)
	if err != nil {
		return nil, err
	}
	where := j.Where
	if pushed {
		where = ""
	}
	if s.source.mapper, err = task.NewMapper(s.source.schema, columns, where); err != nil {
		return nil, err
	}
	plan, err := resolveSink(ctx, j, s.source.mapper.Out(), log)
	if err != nil {
		return nil, wrap("target", err)
	}
	if err := s.source.mapper.Bind(plan.Schema); err != nil {
		return nil, err
	}
	setTypes(src, s.source.schema, func(name string) (batch.Type, bool) {
		i := slices.IndexFunc(columns, func(c task.Column) bool {
			return c.Source >= 0 && c.Cast == nil && s.source.schema.Fields[c.Source].Name == name
		})
		if i < 0 {
			return batch.Type{}, false
		}
		return plan.Schema.Fields[i].Type, true
	})
	s.source.to = plan.Schema
	for i, f := range plan.Schema.Fields {
		s.source.columns = append(s.source.columns, i)
		s.source.from = append(s.source.from, f.Type)
	}
	return plan, nil
}

// makeSource makes the source as a run would: see what a where does to columns there.
func makeSource(j *job.Job, log *slog.Logger) (src connector.Source, pushed bool, err error) {
	env := connector.SourceEnv{Log: log, Where: j.Where, Columns: j.Inputs()}
	if src, err = j.Source.Definition.Source.New(j.Source.Options, env); err != nil {
		return nil, false, err
	}
	f, ok := src.(connector.Filterer)
	pushed = ok && f.PushesFilter()
	if pushed || j.Where == "" || env.Columns == nil {
		return src, pushed, nil
	}
	if err := src.Close(); err != nil {
		return nil, false, err
	}
	env.Columns = nil
	src, err = j.Source.Definition.Source.New(j.Source.Options, env)
	return src, false, err
}

func mapping(j *job.Job, in *batch.Schema) ([]task.Column, error) {
	outputs, err := j.Outputs(in)
	if err != nil {
		return nil, err
	}
	columns := make([]task.Column, len(outputs))
	for i, o := range outputs {
		columns[i] = task.Column{Name: o.Field.Name, Source: o.Source, Constant: o.Value}
		if o.Source < 0 || !o.Field.Type.Equal(in.Fields[o.Source].Type) {
			columns[i].Cast = &outputs[i].Field.Type
		}
	}
	return columns, nil
}

// resolveSink asks the sink for the target's columns, and lets it go.
func resolveSink(ctx context.Context, j *job.Job, in *batch.Schema, log *slog.Logger) (*connector.Plan, error) {
	sink, err := j.Sink.Definition.Sink.New(j.Sink.Options, connector.SinkEnv{Log: log, Failpoint: func(string) {}})
	if err != nil {
		return nil, err
	}
	plan, err := sink.Resolve(ctx, in)
	if closed := sink.Close(); err == nil {
		err = closed
	}
	return plan, err
}

// openTarget opens what the sink has written, and finds the target's columns in it.
func (s *sides) openTarget(ctx context.Context, j *job.Job, plan *connector.Plan, log *slog.Logger) error {
	options, err := j.Sink.Definition.Sink.Readback(j.Sink.Options)
	if err != nil {
		return err
	}
	src, err := j.Sink.Definition.Source.New(options, connector.SourceEnv{Log: log, Columns: plan.Schema.Names()})
	if err != nil {
		return err
	}
	s.target = &side{name: "target", source: src, to: plan.Schema}
	if s.target.schema, err = src.Schema(ctx); err != nil {
		return err
	}
	for _, f := range plan.Schema.Fields {
		i := s.target.schema.Index(f.Name)
		if i < 0 {
			return connector.Errorf(connector.Usage, "there is no column %q to compare; there are %v", f.Name, s.target.schema.Names())
		}
		s.target.columns = append(s.target.columns, i)
		s.target.from = append(s.target.from, s.target.schema.Fields[i].Type)
	}
	setTypes(src, s.target.schema, func(name string) (batch.Type, bool) {
		i := plan.Schema.Index(name)
		if i < 0 {
			return batch.Type{}, false
		}
		return plan.Schema.Fields[i].Type, true
	})
	return nil
}

// setTypes tells a source that reads by the target's types which these are.
func setTypes(src connector.Source, schema *batch.Schema, target func(name string) (batch.Type, bool)) {
	typer, ok := src.(connector.Typer)
	if !ok {
		return
	}
	types := map[string]batch.Type{}
	for _, f := range schema.Fields {
		types[f.Name] = f.Type
		if t, ok := target(f.Name); ok && f.Type.Kind == batch.Untyped {
			types[f.Name] = t
		}
	}
	typer.SetTypes(types)
}

// normals makes the side's conversions, for one goroutine.
func (s *side) normals() ([]*normal, error) {
	normals := make([]*normal, len(s.columns))
	for i := range s.columns {
		n, err := newNormal(s.from[i], s.to.Fields[i].Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", s.to.Fields[i].Name, err)
		}
		normals[i] = n
	}
	return normals, nil
}
