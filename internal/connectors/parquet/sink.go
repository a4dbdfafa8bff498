package parquet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// NewSink makes a sink over a file system.
func NewSink(fs storage.FS, o *SinkOptions, env connector.SinkEnv) (*files.Sink, error) {
	if err := o.Validate(); err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	return files.NewSink(files.SinkConfig{
		FS:      fs,
		Format:  &writeFormat{codec: o.codec(), maxRows: o.RowGroupRows, maxHeld: int(o.RowGroupSize)},
		Options: files.SinkOptions{Path: o.Path, Mode: o.Mode, Compression: string(files.Plain), RollSize: o.RollSize},
		Schema:  targetSchema, Doubts: doubts, Typed: true,
		Failpoint: env.Failpoint, Log: env.Log,
	})
}

// targetSchema returns the columns and types that are written.
func targetSchema(in *batch.Schema) (*batch.Schema, error) {
	if len(in.Fields) == 0 {
		return nil, connector.Errorf(connector.Usage, "there are no columns, and a Parquet file has at least one")
	}
	out := &batch.Schema{Key: in.Key}
	for _, f := range in.Fields {
		f.Type = targetType(f.Type)
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

// doubts tells of types that are written as another.
func doubts(in *batch.Schema, untyped []string) []string {
	as := map[string][]string{}
	for _, f := range in.Fields {
		why := ""
		switch t := f.Type; {
		case slices.Contains(untyped, f.Name):
		case t.Kind == batch.Array:
			why = "arrays are written as JSON"
		case t.Kind == batch.Decimal && targetType(t).Kind == batch.Text:
			why = fmt.Sprintf("decimals without a precision, or of more than %d digits, are written as text: cast them to one such as decimal(%d,9) to have numbers", maxPrecision, maxPrecision)
		case t.Kind == batch.TimeTZ, t.Kind == batch.Interval, t.Kind == batch.Bit, t.Kind == batch.Named:
			why = t.String() + " is written as text, for which Parquet has no type that keeps all of it"
		}
		if why != "" {
			as[why] = append(as[why], f.Name)
		}
	}
	var all []string
	for why, names := range as {
		all = append(all, strings.Join(names, ", ")+": "+why)
	}
	slices.Sort(all)
	return all
}

// readback returns the source options that read what a sink has written.
func readback(o *SinkOptions) *SourceOptions { return &SourceOptions{Path: []string{o.Path}} }
