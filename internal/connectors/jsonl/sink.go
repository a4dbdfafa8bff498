package jsonl

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// NewSink makes a sink over a file system, for "-" with standard output.
func NewSink(fs storage.FS, stdout io.Writer, o *SinkOptions, env connector.SinkEnv) (*files.Sink, error) {
	return files.NewSink(files.SinkConfig{
		FS: fs, Format: format{}, Options: o.SinkOptions, Typed: true, Doubts: doubts, Stdout: stdout,
		Failpoint: env.Failpoint, Log: env.Log,
	})
}

// doubts tells what JSON lines may do to JSON.
func doubts(in *batch.Schema, untyped []string) []string {
	var hold, texts []string
	for _, f := range in.Fields {
		elem := f.Type.Elem
		switch {
		case f.Type.Kind == batch.JSON, elem != nil && elem.Kind == batch.JSON:
			hold = append(hold, f.Name)
		case slices.Contains(untyped, f.Name) && (f.Type.Kind == batch.Untyped || f.Type.Kind == batch.Text):
			texts = append(texts, f.Name)
		}
	}
	var all []string
	if len(hold) > 0 {
		all = append(all, fmt.Sprintf("JSON in %s: JSON's null is dirty, for in JSON lines it could not be told from NULL; spaces around a value, and line ends in it, are left out", named(hold)))
	}
	if len(texts) > 0 {
		all = append(all, fmt.Sprintf("text in %s has no declared type and is written as strings, also where it is JSON itself: declare types: {%s: json} on the source to have it embedded", named(texts), texts[0]))
	}
	return all
}

// named lists columns, of many the first.
func named(columns []string) string {
	const most = 5
	if more := len(columns) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(columns[:most], ", "), more)
	}
	return strings.Join(columns, ", ")
}

// readback returns the source options that read what a sink has written.
func readback(o *SinkOptions) *SourceOptions {
	return &SourceOptions{SourceOptions: o.Readback()}
}
