package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// stdinHead is how much of standard input is looked at for its keys.
const stdinHead = 1 << 20

// Source reads files of JSON objects, one a line. It is files.Source with
// columns: named ones, or the keys of all objects.
type Source struct {
	*files.Source
	columns []string
	types   map[string]batch.Type
	// wanted are the columns that the job needs, nil for all.
	wanted []string

	mu       sync.Mutex
	schema   *batch.Schema
	surveyed *survey
	head     *survey               // of standard input's start
	more     bool                  // there is more of it than that
	given    map[string]batch.Type // SetTypes's
}

var (
	_ connector.Source    = (*Source)(nil)
	_ connector.Inferrer  = (*Source)(nil)
	_ connector.Typer     = (*Source)(nil)
	_ connector.Describer = (*Source)(nil)
)

// NewSource makes a source over a file system, for "-" with standard input.
func NewSource(fs storage.FS, stdin io.Reader, o *SourceOptions, env connector.SourceEnv) (*Source, error) {
	types, err := o.types()
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	s := &Source{columns: o.Columns, types: types, wanted: env.Columns}
	s.Source, err = files.NewSource(files.SourceConfig{
		FS: fs, Format: format{}, Options: o.SourceOptions, Schema: s.look, Stdin: stdin, Log: env.Log,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// look is the files.SchemaFunc. The columns are not found at the start of a
// file, but for standard input, which is read only once.
func (s *Source) look(head []byte, whole bool) (*batch.Schema, bool, error) {
	if !s.IsStandard() || len(s.columns) > 0 {
		return &batch.Schema{}, true, nil
	}
	end := bytes.LastIndexByte(head, '\n') + 1
	if !whole && (len(head) < stdinHead || end == 0) {
		return nil, false, nil
	}
	s.head, s.more = newSurvey(), !whole
	if whole {
		end = len(head)
	}
	_, _, err := s.head.Decode(nil, head[:end], true, 1)
	return &batch.Schema{}, true, err
}

// Schema implements connector.Source. Without named columns it reads all files.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.schemaLocked(ctx)
}

func (s *Source) schemaLocked(ctx context.Context) (*batch.Schema, error) {
	if s.schema != nil {
		return s.schema, nil
	}
	if _, err := s.Source.Schema(ctx); err != nil { // also finds standard input's keys
		return nil, err
	}
	names, empty := s.columns, false
	if len(names) == 0 {
		v, err := s.surveyLocked(ctx)
		if err != nil {
			return nil, err
		}
		for _, k := range v.keys {
			names = append(names, k.name)
		}
		if empty, err = s.isEmpty(v); err != nil {
			return nil, err
		}
	}
	if empty {
		names = s.wanted
	}
	schema := &batch.Schema{}
	for _, name := range names {
		schema.Fields = append(schema.Fields, batch.Field{Name: name, Type: s.types[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		if schema.Index(name) < 0 && !empty {
			return nil, connector.Errorf(connector.Usage, "types: no object has the key %q", name)
		}
	}
	s.schema = schema
	return schema, nil
}

// isEmpty reports whether there is no record in the files, and fails when there
// are some and none has a key.
func (s *Source) isEmpty(v *survey) (bool, error) {
	switch {
	case len(v.keys) > 0:
		return false, nil
	case v.broken.reason != "":
		return false, connector.Errorf(connector.Usage, "no line is an object to tell the columns by; the first is %s", v.broken)
	case v.objects > 0:
		return false, connector.Errorf(connector.Usage, "no object has a key to tell the columns by: name them by the option columns")
	case s.more:
		return false, connector.Errorf(connector.Usage, "there is no object in the first %d bytes of standard input to tell the columns by: name them by the option columns", stdinHead)
	}
	return true, nil
}

// surveyLocked reads all files once, by as many readers as there are processors.
func (s *Source) surveyLocked(ctx context.Context) (*survey, error) {
	if s.surveyed != nil {
		return s.surveyed, nil
	}
	if s.IsStandard() {
		v := s.head
		if v == nil {
			v = newSurvey()
		}
		v.broken.file = "standard input"
		if err := v.checkKeys("standard input"); err != nil {
			return nil, err
		}
		s.surveyed = v
		return v, nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	var parts []*survey
	for sp, err := range s.splits(ctx) {
		if err != nil {
			return nil, errors.Join(err, g.Wait())
		}
		part := newSurvey()
		parts = append(parts, part)
		g.Go(func() error { return s.surveySplit(ctx, sp, part) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("find the objects' keys: %w", err)
	}
	all := newSurvey()
	for _, part := range parts {
		all.merge(part)
	}
	if len(all.keys) > maxColumns {
		return nil, fmt.Errorf("the objects have more than %d different keys: name those to read by the option columns", maxColumns)
	}
	s.surveyed = all
	return all, nil
}

// splits enumerates the files anew; these splits are not a run's.
func (s *Source) splits(ctx context.Context) func(yield func(connector.Split, error) bool) {
	return func(yield func(connector.Split, error) bool) {
		var cursor connector.Cursor
		for {
			e, err := s.Enumerate(ctx, cursor, 0, connector.Want{Parallelism: runtime.GOMAXPROCS(0)})
			if err != nil {
				yield(connector.Split{}, err)
				return
			}
			for _, sp := range e.Splits {
				if !yield(sp, nil) {
					return
				}
			}
			if e.Done {
				return
			}
			cursor = e.Next
		}
	}
}

func (s *Source) surveySplit(ctx context.Context, sp connector.Split, part *survey) (err error) {
	r, err := s.OpenAs(ctx, sp, "", part)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := &batch.Batch{}
	b.Reset(&batch.Schema{})
	if err := r.Next(ctx, b); !errors.Is(err, io.EOF) { // it gives no batch before the end
		return err
	}
	var file struct{ Path string }
	if err := json.Unmarshal([]byte(sp.Spec), &file); err != nil {
		return fmt.Errorf("split %q: %w", sp.Spec, err)
	}
	part.broken.file = file.Path
	return part.checkKeys(file.Path)
}

// Infer implements connector.Inferrer. A column whose values are of several
// JSON kinds, or nested, is of kind JSON. Standard input cannot be read twice:
// its columns are text.
func (s *Source) Infer(ctx context.Context) (*batch.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	schema, err := s.schemaLocked(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.surveyLocked(ctx)
	if err != nil {
		return nil, err
	}
	inferred := &batch.Schema{}
	for _, f := range schema.Fields {
		if f.Type.Kind == batch.Untyped {
			f.Type = batch.Of(batch.Text)
			if k := v.byName[f.Name]; k != nil && !s.IsStandard() {
				f.Type = k.typ()
			}
		}
		inferred.Fields = append(inferred.Fields, f)
	}
	if s.given == nil {
		s.given = typesOf(inferred)
	}
	return inferred, nil
}

// SetTypes implements connector.Typer: JSON keeps a string's quotes, bytes are
// base64, an array becomes an array literal.
func (s *Source) SetTypes(types map[string]batch.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = types
}

// Open implements connector.Source.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	s.mu.Lock()
	schema, err := s.schemaLocked(ctx)
	given := s.given
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(schema.Fields))
	for i, f := range schema.Fields {
		declared := f.Type.Kind != batch.Untyped
		if t, ok := given[f.Name]; ok && !declared {
			f.Type = t
		}
		if columns[i], err = newColumn(f.Name, f.Type, declared); err != nil {
			return nil, connector.E(connector.Usage, err)
		}
	}
	return s.OpenAs(ctx, split, pos, newDecoder(columns, len(s.columns) == 0))
}

// Describe implements connector.Describer.
func (s *Source) Describe(ctx context.Context) ([]string, error) {
	lines, err := s.Source.Describe(ctx)
	switch {
	case err != nil:
	case s.IsStandard() && len(s.columns) == 0:
		lines = append(lines, "columns: the keys in the first 1 MiB of standard input; an object with another key is dirty; the option columns names them beforehand")
	case len(s.columns) == 0:
		lines = append(lines, "columns: the keys of all objects, for which all files are read once more; the option columns spares that")
	}
	return lines, err
}

func typesOf(schema *batch.Schema) map[string]batch.Type {
	types := make(map[string]batch.Type, len(schema.Fields))
	for _, f := range schema.Fields {
		types[f.Name] = f.Type
	}
	return types
}
