package sqlite

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// file is a database file of a test.
type file struct {
	t    testing.TB
	path string
	// causes are those of the rejected rows.
	causes *[]batch.Cause
}

func newFile(t testing.TB) file {
	t.Helper()
	return file{t, filepath.Join(t.TempDir(), "test.db"), new([]batch.Cause)}
}

// exec runs statements through a connection of their own.
func (f file) exec(sql string) {
	f.t.Helper()
	c, err := native.Open(f.path, native.CreateMode, lockWait)
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(sql); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}

// query returns rows as text: each value with its class, as typeof has it.
func (f file) query(sql string) []string {
	f.t.Helper()
	c, err := native.Open(f.path, native.ReadOnlyMode, lockWait)
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	var rows []string
	err = c.Query(sql, nil, func(s *native.Stmt) error {
		var values []string
		for i := range s.Columns() {
			switch s.Class(i) {
			case native.Null:
				values = append(values, "NULL")
			case native.Integer:
				values = append(values, fmt.Sprint(s.Int64(i)))
			case native.Float:
				values = append(values, fmt.Sprintf("real(%v)", s.Float(i)))
			case native.Blob:
				values = append(values, fmt.Sprintf("x'%x'", s.Blob(i)))
			default:
				values = append(values, fmt.Sprintf("%q", s.Text(i)))
			}
		}
		rows = append(rows, strings.Join(values, " "))
		return nil
	})
	if err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func (f file) sink(options map[string]any, failpoint func(string)) *Sink {
	f.t.Helper()
	o := new(SinkOptions)
	values := map[string]any{"path": f.path, "table": "t"}
	maps.Copy(values, options)
	if err := option.Parse(values, o); err != nil {
		f.t.Fatal(err)
	}
	return NewSink(o, connector.SinkEnv{Failpoint: failpoint})
}

// fields makes a schema of "name type" texts; a ! at the end means NOT NULL.
func fields(t testing.TB, columns ...string) *batch.Schema {
	t.Helper()
	s := new(batch.Schema)
	for _, c := range columns {
		name, text, _ := strings.Cut(c, " ")
		text, notNull := strings.CutSuffix(text, "!")
		typ, err := batch.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Fields = append(s.Fields, batch.Field{Name: name, Type: typ, NotNull: notNull})
	}
	return s
}

// null is a NULL cell of rowsOf.
const null = "\x00NULL"

// rowsOf makes a batch of rows of texts.
func rowsOf(s *batch.Schema, rows ...[]string) *batch.Batch {
	b := new(batch.Batch)
	b.Reset(s)
	for _, row := range rows {
		for _, cell := range row {
			if cell == null {
				b.AppendNull()
			} else {
				b.Append([]byte(cell))
			}
		}
	}
	b.Seal()
	return b
}

// load runs a whole run of one split and returns its state and what was
// rejected, as "row column: reason".
func (f file) load(s *Sink, run string, in *batch.Schema, batches ...*batch.Batch) (connector.SplitState, []string, error) {
	f.t.Helper()
	ctx := f.t.Context()
	if _, err := s.Resolve(ctx, in); err != nil {
		return connector.SplitState{}, nil, err
	}
	r := connector.Run{ID: run, Job: "job", JobHash: "hash"}
	if err := s.Prepare(ctx, r); err != nil {
		return connector.SplitState{}, nil, err
	}
	split := connector.Split{ID: 0}
	if err := s.Register(ctx, r, []connector.Split{split}); err != nil {
		return connector.SplitState{}, nil, err
	}
	var rejected []string
	w, state, err := s.Claim(ctx, connector.Attempt{Run: r, Split: split, Token: connector.NewToken(1, 1), Reject: func(_ *batch.Batch, row int, column string, cause batch.Cause, reason string) {
		rejected = append(rejected, fmt.Sprintf("%d %s: %s", row, column, reason))
		*f.causes = append(*f.causes, cause)
	}})
	if err != nil {
		return state, nil, err
	}
	defer w.Close()
	for _, b := range batches {
		state.Counters.Read += b.Read
		if err := w.Write(ctx, b); err != nil {
			return state, rejected, err
		}
	}
	state.Done = true
	state.Counters.Dirty = int64(len(rejected))
	if state, err = w.Commit(ctx, state); err != nil {
		return state, rejected, err
	}
	if !state.Counters.Balanced() {
		f.t.Errorf("counters do not add up: %+v", state.Counters)
	}
	if err := w.Close(); err != nil {
		return state, rejected, err
	}
	return state, rejected, s.Finish(ctx, r, []connector.SplitState{state})
}

// read reads a whole source and returns its rows as texts, NULL for NULL, and
// its rejects.
func read(t testing.TB, s *Source) (rows []string, rejects []batch.Reject) {
	t.Helper()
	ctx := t.Context()
	schema, err := s.Schema(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Enumerate(ctx, "", 0, connector.Want{Parallelism: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range e.Splits {
		r, err := s.Open(ctx, split, "")
		if err != nil {
			t.Fatal(err)
		}
		for {
			b := new(batch.Batch)
			b.Reset(schema)
			if err := r.Next(ctx, b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, texts(b)...)
			rejects = append(rejects, b.Rejects...)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return rows, rejects
}

func texts(b *batch.Batch) []string {
	var rows []string
	for i := range b.Rows {
		var cells []string
		for c := range b.Columns {
			if cell := b.Columns[c].Cell(i); cell == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, fmt.Sprintf("%q", cell))
			}
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	return rows
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
