package csv

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// Source reads delimited files. It is files.Source with types: declared ones,
// or those that all values of a column allow.
type Source struct {
	*files.Source
	format *format
	// wanted are the columns that the job names; they stand in where no file
	// has any.
	wanted []string
	log    *slog.Logger
	warned sync.Once
}

var (
	_ connector.Source    = (*Source)(nil)
	_ connector.Inferrer  = (*Source)(nil)
	_ connector.Describer = (*Source)(nil)
)

// NewSource makes a source over a file system, for "-" with standard input.
func NewSource(fs storage.FS, stdin io.Reader, o *SourceOptions, env connector.SourceEnv) (*Source, error) {
	f, err := newSourceFormat(o)
	if err != nil {
		return nil, err
	}
	s, err := files.NewSource(files.SourceConfig{
		FS: fs, Format: f, Options: o.SourceOptions, Schema: f.columns, Stdin: stdin, Log: env.Log,
	})
	if err != nil {
		return nil, err
	}
	log := env.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Source{Source: s, format: f, wanted: env.Columns, log: log}, nil
}

// Schema implements connector.Source. Files that are all empty have no
// columns but those that the job names.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	schema, err := s.Source.Schema(ctx)
	if err != nil || len(schema.Fields) > 0 {
		return schema, err
	}
	s.warned.Do(func() { s.log.Warn("the source is empty: it has no record and no header") })
	schema = &batch.Schema{}
	for _, name := range s.wanted {
		schema.Fields = append(schema.Fields, batch.Field{Name: name, Type: s.format.types[name]})
	}
	return schema, nil
}

// splitEnds is what a split says besides what package files does. The files
// that there are may be others by the time it is opened, so that it cannot be
// asked of the first of them.
type splitEnds struct {
	CR bool `json:"cr"`
}

const specOfCR = `{"cr":true,`

// Enumerate implements connector.Source.
func (s *Source) Enumerate(ctx context.Context, from connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	e, err := s.Source.Enumerate(ctx, from, first, want)
	if err != nil || s.IsStandard() || s.format.found().ends != endsCR {
		return e, err
	}
	for i := range e.Splits {
		e.Splits[i].Spec = specOfCR + strings.TrimPrefix(e.Splits[i].Spec, "{")
	}
	return e, nil
}

// Open implements connector.Source.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	dec := s.format.decoder(schema)
	if s.format.dialect.ends == endsAny && !s.IsStandard() {
		var ends splitEnds
		if err := json.Unmarshal([]byte(split.Spec), &ends); err != nil {
			return nil, fmt.Errorf("split %q: %w", split.Spec, err)
		}
		dec.ends = endsAny
		if ends.CR {
			dec.ends = endsCR
		}
	}
	return s.OpenAs(ctx, split, pos, dec)
}

// Describe implements connector.Describer.
func (s *Source) Describe(ctx context.Context) ([]string, error) {
	lines, err := s.Source.Describe(ctx)
	if err == nil && s.IsStandard() {
		lines = append(lines, "types: standard input is read once only, so that columns without a declared type are text where the target does not exist")
	}
	return lines, err
}

// withTypes returns the schema with the types in place of the Untyped ones.
func withTypes(schema *batch.Schema, types []batch.Type) *batch.Schema {
	out := &batch.Schema{Fields: make([]batch.Field, len(schema.Fields)), Key: schema.Key}
	for i, f := range schema.Fields {
		if f.Type.Kind == batch.Untyped {
			f.Type = types[i]
		}
		out.Fields[i] = f
	}
	return out
}
