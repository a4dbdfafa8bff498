package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// ColumnsFor returns the columns that are read from a source with those of its
// own: these or, where it has none since it has no record to tell them by,
// those of the target, Untyped. None at all are fine between two of a kind.
func (j *Job) ColumnsFor(ctx context.Context, own *batch.Schema, log *slog.Logger) (*batch.Schema, error) {
	if len(own.Fields) > 0 {
		return own, nil
	}
	target, err := j.targetColumns(ctx, log)
	if err != nil {
		return nil, connector.E(connector.ClassOf(err), j.noColumns(err))
	}
	schema := &batch.Schema{}
	for _, f := range target.Fields {
		schema.Fields = append(schema.Fields, batch.Field{Name: f.Name})
	}
	if len(schema.Fields) == 0 && j.Sink.Connector != j.Source.Connector {
		return nil, connector.E(connector.Usage, j.noColumns(nil))
	}
	return schema, nil
}

// targetColumns reads the target's columns as verify would; a target that is
// not there yet has none.
func (j *Job) targetColumns(ctx context.Context, log *slog.Logger) (schema *batch.Schema, err error) {
	sink := j.Sink.Definition.Sink
	if sink.Readback == nil || j.Sink.Definition.Source == nil {
		return &batch.Schema{}, nil
	}
	options, err := sink.Readback(j.Sink.Options)
	if err != nil {
		return nil, err
	}
	source, err := j.Sink.Definition.Source.New(options, connector.SourceEnv{Log: log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	schema, err = source.Schema(ctx)
	if err != nil && connector.ClassOf(err) == connector.Usage {
		return &batch.Schema{}, nil
	}
	return schema, err
}

// noColumns says that nothing tells the columns, and how to name them.
func (j *Job) noColumns(cause error) error {
	source := j.Source.Connector
	if path, ok := j.Source.Values["path"]; ok && !j.Source.hidden["path"] {
		source = fmt.Sprint(path)
	}
	way := ""
	for _, o := range option.Describe(j.Source.Options) {
		if o.Name == "names" || o.Name == "columns" {
			way = ", or name the columns by the source's option " + o.Name
		}
	}
	err := fmt.Errorf("%s holds no record to tell its columns by, nor does the target tell them: make the target first%s", source, way)
	if cause == nil {
		return err
	}
	return errors.Join(err, cause)
}
