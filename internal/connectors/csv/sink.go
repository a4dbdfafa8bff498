package csv

import (
	"io"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// NewSink makes a sink over a file system, for "-" with standard output.
func NewSink(fs storage.FS, stdout io.Writer, o *SinkOptions, env connector.SinkEnv) (*files.Sink, error) {
	f, err := newSinkFormat(o)
	if err != nil {
		return nil, err
	}
	return files.NewSink(files.SinkConfig{
		FS: fs, Format: f, Options: o.SinkOptions, Schema: f.written, Stdout: stdout,
		Failpoint: env.Failpoint, Log: env.Log,
	})
}

// written returns the columns that are written, the input's own, once their
// names can stand in a header.
func (f *format) written(in *batch.Schema) (*batch.Schema, error) {
	e := newEncoder(f.dialect, f.quoteAll, in)
	for i, field := range in.Fields {
		if !f.header {
			break
		}
		if _, fault := e.append(nil, []byte(field.Name), i == 0); fault != "" {
			return nil, connector.Errorf(connector.Usage, "the name of column %q %s; rename it, or set header: false", field.Name, fault)
		}
	}
	return in, nil
}

// readback returns the source options that read what a sink has written.
func readback(o *SinkOptions) *SourceOptions {
	return &SourceOptions{
		SourceOptions:  o.Readback(),
		DialectOptions: o.DialectOptions,
		LineEnd:        o.LineEnd,
	}
}
