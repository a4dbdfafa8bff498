package local

import (
	"context"
	"log/slog"
	"runtime"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/task"
	"github.com/leatdata/leat/job"
)

// assembly is a job's two ends, made and matched to each other. Nothing has
// been changed yet when it is whole.
type assembly struct {
	source connector.Source
	sink   connector.Sink
	// schema is the source's; pushed says that the source filters by itself.
	schema *batch.Schema
	pushed bool
	// columns are the job's, found in schema; mapper carries them out.
	columns []task.Column
	mapper  *task.Mapper
	plan    *connector.Plan
	want    connector.Want
	// selfRead is the doubt that the source reads what the sink writes.
	selfRead string
	slots    int
}

func (a *assembly) close(log *slog.Logger) {
	for _, c := range []interface{ Close() error }{a.source, a.sink} {
		if c == nil {
			continue
		}
		if err := c.Close(); err != nil {
			log.Warn("close", "error", err)
		}
	}
}

// assemble makes source and sink and matches their columns. known holds the
// types that an earlier start found; what is found now is kept in it.
func (x *execution) assemble(ctx context.Context, known *runRecord) (*assembly, error) {
	a := &assembly{}
	err := a.build(ctx, x.job, x.deps, known)
	if err != nil {
		a.close(x.deps.Log)
		return nil, err
	}
	return a, nil
}

func (a *assembly) build(ctx context.Context, j *job.Job, deps Deps, known *runRecord) (err error) {
	// Beside an error there may be an end that is a nil pointer: it is not kept.
	sink, err := j.Sink.Definition.Sink.New(j.Sink.Options, connector.SinkEnv{Log: deps.Log, Failpoint: deps.Failpoint})
	if err != nil {
		return err
	}
	a.sink = sink
	if err := a.makeSource(j, deps); err != nil {
		return err
	}
	own, err := a.source.Schema(ctx)
	if err != nil {
		return err
	}
	if a.schema, err = j.ColumnsFor(ctx, own, deps.Log); err != nil {
		return err
	}
	if known.Types != nil {
		if !slices.Equal(known.Types.Names(), a.schema.Names()) {
			return connector.Errorf(connector.Usage, "the source's columns have changed since the unfinished run began: begin anew with --restart")
		}
		a.schema = known.Types
		if r, ok := a.source.(connector.Recaller); ok {
			r.Recall(known.Types)
		}
	}
	if err := a.match(ctx, j); err != nil {
		return err
	}
	if !known.Prepared { // what a run has made itself since then is not its source
		if err := a.checkPlaces(ctx, j.Errors.Dirty); err != nil {
			return err
		}
	}
	if inferrer, ok := a.source.(connector.Inferrer); ok && a.plan.Creates && known.Types == nil && len(own.Fields) > 0 && untyped(a.mapper.Out()) {
		if a.schema, err = inferrer.Infer(ctx); err != nil {
			return err
		}
		known.Types = a.schema
		if err := a.match(ctx, j); err != nil {
			return err
		}
	}
	if err := a.mapper.Bind(a.plan.Schema); err != nil {
		return err
	}
	a.tellTypes()
	a.setSlots(j)
	return nil
}

// warn tells of a target that cannot have each record once, and of why.
func (a *assembly) warn(log *slog.Logger) {
	if a.plan.Guarantee == connector.AtLeastOnce && !a.plan.Stream {
		log.Warn("the target takes records at least once: after a crash some may be there twice", "doubts", a.plan.Doubts)
	}
}

// makeSource makes the source with only the columns that the job needs. A
// where that the engine evaluates may name others, so then all are read.
func (a *assembly) makeSource(j *job.Job, deps Deps) (err error) {
	env := connector.SourceEnv{Log: deps.Log, Where: j.Where, Columns: j.Inputs()}
	source, err := j.Source.Definition.Source.New(j.Source.Options, env)
	if err != nil {
		return err
	}
	a.source = source
	f, ok := a.source.(connector.Filterer)
	a.pushed = ok && f.PushesFilter()
	if a.pushed || j.Where == "" || env.Columns == nil {
		return nil
	}
	if err := a.source.Close(); err != nil {
		return err
	}
	env.Columns = nil
	if source, err = j.Source.Definition.Source.New(j.Source.Options, env); err == nil {
		a.source = source
	}
	return err
}

// match maps the source's columns and has the sink say what it makes of them.
func (a *assembly) match(ctx context.Context, j *job.Job) (err error) {
	where := j.Where
	if a.pushed {
		where = ""
	}
	if a.columns, err = taskColumns(j, a.schema); err != nil {
		return err
	}
	if a.mapper, err = task.NewMapper(a.schema, a.columns, where); err != nil {
		return err
	}
	a.plan, err = a.sink.Resolve(ctx, a.mapper.Out())
	return err
}

// taskColumns turns the job's columns into the mapper's, for this schema.
func taskColumns(j *job.Job, in *batch.Schema) ([]task.Column, error) {
	outputs, err := j.Outputs(in)
	if err != nil {
		return nil, err
	}
	columns := make([]task.Column, len(outputs))
	for i, o := range outputs {
		c := task.Column{Name: o.Field.Name, Source: o.Source, Constant: o.Value}
		if o.Source < 0 || !o.Field.Type.Equal(in.Fields[o.Source].Type) {
			c.Cast = &o.Field.Type
		}
		columns[i] = c
	}
	return columns, nil
}

func untyped(s *batch.Schema) bool {
	return slices.ContainsFunc(s.Fields, func(f batch.Field) bool { return f.Type.Kind == batch.Untyped })
}

// tellTypes tells the source what becomes of its untyped columns.
func (a *assembly) tellTypes() {
	typer, ok := a.source.(connector.Typer)
	if !ok {
		return
	}
	types := map[string]batch.Type{}
	for _, f := range a.schema.Fields {
		types[f.Name] = f.Type
	}
	for i, f := range a.plan.Schema.Fields {
		if c := a.columns[i]; c.Source >= 0 && c.Cast == nil && a.schema.Fields[c.Source].Type.Kind == batch.Untyped {
			types[a.schema.Fields[c.Source].Name] = f.Type
		}
	}
	typer.SetTypes(types)
}

// setSlots bounds the parallelism: by default the processors, half of them
// between databases, which use as many themselves.
func (a *assembly) setSlots(j *job.Job) {
	slots := j.Parallelism
	if slots == 0 {
		slots = runtime.GOMAXPROCS(0)
		if _, database := a.source.(connector.Filterer); database && a.plan.Guarantee == connector.WithPosition {
			slots = max(1, slots/2)
		}
	}
	if a.plan.MaxWriters > 0 {
		slots = min(slots, a.plan.MaxWriters)
	}
	if a.plan.Ordered {
		slots = 1
	}
	a.slots = slots
	a.want = connector.Want{Parallelism: slots, Ordered: a.plan.Ordered}
}
