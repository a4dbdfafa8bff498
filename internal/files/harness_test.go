package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

func put(t *testing.T, fsys storage.FS, name string, data []byte) {
	t.Helper()
	if err := storage.MakeDir(fsys, filepath.Dir(name)); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func newTestSource(t *testing.T, fsys storage.FS, f lineFormat, o SourceOptions) *Source {
	t.Helper()
	s, err := NewSource(SourceConfig{FS: fsys, Format: f, Options: o, Schema: f.schemaOf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// enumerate returns all splits, going on from each cursor with a new source as
// after a crash.
func enumerate(t *testing.T, s *Source, want connector.Want) []connector.Split {
	t.Helper()
	splits, err := tryEnumerate(t, s, want)
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

func tryEnumerate(t *testing.T, s *Source, want connector.Want) ([]connector.Split, error) {
	t.Helper()
	var splits []connector.Split
	var cursor connector.Cursor
	for {
		e, err := s.Enumerate(t.Context(), cursor, connector.SplitID(len(splits)), want)
		if err != nil {
			return nil, err
		}
		for i, sp := range e.Splits {
			if int(sp.ID) != len(splits)+i {
				t.Fatalf("split %d has id %d", len(splits)+i, sp.ID)
			}
		}
		splits = append(splits, e.Splits...)
		if e.Done {
			return splits, nil
		}
		cursor = e.Next
	}
}

// rowsOf reads a split from a position: its rows as text, one a record.
func rowsOf(ctx context.Context, s *Source, split connector.Split, pos connector.Position) ([]string, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.Open(ctx, split, pos)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var pool batch.Pool
	var rows []string
	for {
		b := pool.Get(schema)
		err := r.Next(ctx, b)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = appendRows(rows, b)
		b.Release()
	}
}

func appendRows(rows []string, b *batch.Batch) []string {
	for i := range b.Rows {
		var cells []string
		for _, cell := range b.Row(i) {
			if cell == nil {
				cell = []byte("NULL")
			}
			cells = append(cells, string(cell))
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	for _, r := range b.Rejects {
		rows = append(rows, "dirty "+r.Where+": "+r.Reason)
	}
	return rows
}

func readAllRows(t *testing.T, s *Source, want connector.Want) []string {
	t.Helper()
	var rows []string
	for _, split := range enumerate(t, s, want) {
		got, err := rowsOf(t.Context(), s, split, "")
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, got...)
	}
	return rows
}

func numbered(n int) (text string, rows []string) {
	var b strings.Builder
	b.WriteString("id|name\n")
	for i := range n {
		row := fmt.Sprintf("%d|name %d", i, i*7)
		if i%11 == 3 {
			row = fmt.Sprintf("%d|'line\nend'", i)
		}
		b.WriteString(row + "\n")
		rows = append(rows, row)
	}
	return b.String(), rows
}

func equalRows(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("%d rows, want %d; row %d is %q, want %q", len(got), len(want), i, at(got, i), want[i])
		}
	}
	t.Fatalf("%d rows, want %d; first too many: %q", len(got), len(want), got[len(want)])
}

func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return "(none)"
}

// names returns the names in a folder.
func names(t *testing.T, fsys storage.FS, dir string) []string {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func oneRow(schema *batch.Schema, cells ...string) *batch.Batch {
	b := new(batch.Pool).Get(schema)
	for _, cell := range cells {
		b.Append([]byte(cell))
	}
	b.Seal()
	return b
}
