package parquet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/storage"
)

// countingFS counts the bytes that are read of its files.
type countingFS struct {
	storage.FS
	read *int64
}

func (c countingFS) Open(name string) (storage.File, error) {
	f, err := c.FS.Open(name)
	return countingFile{f, c.read}, err
}

type countingFile struct {
	storage.File
	read *int64
}

func (c countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(p, off)
	*c.read += int64(n)
	return n, err
}

// Only the columns that the job names are read.
func TestOnlyTheColumnsNeededAreRead(t *testing.T) {
	schema, rows := mixedRows(20_000, 13)
	path := filepath.Join(t.TempDir(), "a.parquet")
	write(t, storage.Local{}, SinkOptions{Path: path, Compression: "none"}, schema, batchesOf(schema, rows, 4000)...)
	readOf := func(columns ...string) (got []connectortest.Row, read int64) {
		s, err := NewSource(countingFS{storage.Local{}, &read}, &SourceOptions{Path: []string{path}}, connector.SourceEnv{Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		got = connectortest.ReadAll(t, s)
		return got, read
	}
	var want []connectortest.Row
	for _, row := range rows {
		want = append(want, connectortest.Row{row[0], row[5]})
	}
	got, _ := readOf("flag", "sorted")
	checkRows(t, got, want)
	_, some := readOf("flag")
	_, all := readOf()
	if some*4 > all {
		t.Errorf("%d bytes were read of one column, and %d of all", some, all)
	}
	s, err := NewSource(storage.Local{}, &SourceOptions{Path: []string{path}}, connector.SourceEnv{Columns: []string{"none"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Schema(t.Context()); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "unique") {
		t.Errorf("a column that is not there: %v", err)
	}
}

// Splits are row groups, small ones together, and one a file where the order
// counts.
func TestSplitsAreRowGroups(t *testing.T) {
	schema, rows := mixedRows(6000, 17)
	dir := t.TempDir()
	for _, name := range []string{"a.parquet", "b.parquet"} {
		write(t, storage.Local{}, SinkOptions{Path: filepath.Join(dir, name), RowGroupRows: 1000}, schema, batchesOf(schema, rows, 1000)...)
	}
	for _, c := range []struct {
		o    SourceOptions
		want connector.Want
		n    int
	}{
		{SourceOptions{SplitSize: 1}, connector.Want{Parallelism: 2}, 12},
		{SourceOptions{}, connector.Want{Parallelism: 2}, 2},
		{SourceOptions{SplitSize: 1}, connector.Want{Parallelism: 2, Ordered: true}, 2},
	} {
		c.o.Path = []string{dir}
		s := newTestSource(t, storage.Local{}, c.o)
		e, err := s.Enumerate(t.Context(), "", 5, c.want)
		if err != nil || !e.Done || len(e.Splits) != c.n || e.Splits[0].ID != 5 {
			t.Errorf("%+v: %d splits, want %d, %v", c, len(e.Splits), c.n, err)
		}
		var total int64
		for _, split := range e.Splits {
			total += split.Rows
		}
		if total != int64(2*len(rows)) {
			t.Errorf("splits of %d rows, want %d", total, 2*len(rows))
		}
	}
}

// The files of a source have the same columns, and stay what they were.
func TestFilesThatDifferAreRefused(t *testing.T) {
	dir := t.TempDir()
	one := &batch.Schema{Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int64)}}}
	other := &batch.Schema{Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int32)}}}
	for name, schema := range map[string]*batch.Schema{"a.parquet": one, "b.parquet": other} {
		write(t, storage.Local{}, SinkOptions{Path: filepath.Join(dir, name)}, schema, batchesOf(schema, []connectortest.Row{{"1"}}, 1)...)
	}
	s := newTestSource(t, storage.Local{}, SourceOptions{Path: []string{filepath.Join(dir, "*.parquet")}})
	if _, err := s.Enumerate(t.Context(), "", 0, connector.Want{}); err == nil || !strings.Contains(err.Error(), "b.parquet has other columns") {
		t.Errorf("other columns: %v", err)
	}
	path := filepath.Join(dir, "a.parquet")
	s = newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(slices.Clone(content[:4]), content...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), e.Splits[0], ""); err == nil || !strings.Contains(err.Error(), "has changed since the run began") {
		t.Errorf("another file: %v", err)
	}
}

// validate tells which columns are written as another type.
func TestTypesWrittenAsOthersAreTold(t *testing.T) {
	s := newTestSink(t, storage.Local{}, SinkOptions{Path: filepath.Join(t.TempDir(), "a.parquet")})
	elem := batch.Of(batch.Int32)
	plan, err := s.Resolve(t.Context(), &batch.Schema{Fields: []batch.Field{
		{Name: "n", Type: batch.Of(batch.Decimal)},
		{Name: "big", Type: batch.Type{Kind: batch.Decimal, Precision: 40}},
		{Name: "list", Type: batch.Type{Kind: batch.Array, Elem: &elem}},
		{Name: "span", Type: batch.Of(batch.Interval)},
		{Name: "fine", Type: batch.Of(batch.Int64)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(plan.Doubts, "\n")
	for _, part := range []string{"n, big: decimals", "list: arrays", "span: interval"} {
		if !strings.Contains(told, part) {
			t.Errorf("%q is not told in %q", part, told)
		}
	}
	if strings.Contains(told, "fine") {
		t.Errorf("told: %s", told)
	}
	if got := fmt.Sprint(plan.Schema.Fields[2].Type, plan.Schema.Fields[0].Type); got != "json text" {
		t.Errorf("written as %s", got)
	}
}

func TestStandardStreamsAreRefused(t *testing.T) {
	if _, err := NewSource(storage.Local{}, &SourceOptions{Path: []string{"-"}}, connector.SourceEnv{}); connector.ClassOf(err) != connector.Usage {
		t.Errorf("reading: %v", err)
	}
	o := SinkOptions{Path: "-"}.withDefaults()
	if _, err := NewSink(storage.Local{}, &o, connector.SinkEnv{}); connector.ClassOf(err) != connector.Usage {
		t.Errorf("writing: %v", err)
	}
}
