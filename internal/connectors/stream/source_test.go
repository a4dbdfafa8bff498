package stream

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
)

func newSource(t testing.TB, o SourceOptions, columns ...string) *Source {
	t.Helper()
	if o.Key == "" {
		o.Key = "id"
	}
	if o.SplitRows == 0 {
		o.SplitRows = 1000
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(&o, connector.SourceEnv{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readAll returns the rows of a split from a position as one text each.
func readAll(t testing.TB, s *Source, split connector.Split, pos connector.Position) []string {
	t.Helper()
	r, err := s.Open(t.Context(), split, pos)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var pool batch.Pool
	var rows []string
	for {
		b := pool.Get(s.schema)
		if err := r.Next(t.Context(), b); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			rows = append(rows, string(appendLine(nil, b, i)))
		}
		b.Release()
	}
}

func enumerate(t testing.TB, s *Source, steps int) []connector.Split {
	t.Helper()
	var splits []connector.Split
	var cursor connector.Cursor
	for range steps {
		e, err := s.Enumerate(t.Context(), cursor, connector.SplitID(len(splits)), connector.Want{Parallelism: 2})
		if err != nil {
			t.Fatal(err)
		}
		splits = append(splits, e.Splits...)
		if e.Done {
			return splits
		}
		cursor = e.Next
	}
	return splits
}

func TestSplitsMakeTheSameRecordsFromAnyPosition(t *testing.T) {
	s := newSource(t, SourceOptions{Rows: 2500, Seed: 7, Nulls: 0.1, SplitRows: 700})
	whole := newSource(t, SourceOptions{Rows: 2500, Seed: 7, Nulls: 0.1, SplitRows: 5000})
	want := readAll(t, whole, enumerate(t, whole, 1)[0], "")
	if len(want) != 2500 {
		t.Fatalf("%d rows, want 2500", len(want))
	}
	var got []string
	for _, split := range enumerate(t, s, 10) {
		got = append(got, readAll(t, s, split, "")...)
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Error("splits of 700 rows do not give the records that one split gives")
	}
	tail := readAll(t, whole, enumerate(t, whole, 1)[0], "1234")
	if strings.Join(tail, "") != strings.Join(want[1234:], "") {
		t.Error("from position 1234 other records come than the first time")
	}
}

func TestOtherSeedsMakeOtherRecords(t *testing.T) {
	one := newSource(t, SourceOptions{Rows: 10, Seed: 1})
	two := newSource(t, SourceOptions{Rows: 10, Seed: 2})
	a, b := readAll(t, one, enumerate(t, one, 1)[0], ""), readAll(t, two, enumerate(t, two, 1)[0], "")
	for i := range a {
		if a[i] == b[i] {
			t.Errorf("row %d is the same for both seeds: %s", i, a[i])
		}
	}
}

func TestLeavingColumnsOutChangesNoOther(t *testing.T) {
	o := SourceOptions{Rows: 50, Columns: []string{"id int64", "a text", "b int32"}}
	all, some := newSource(t, o), newSource(t, o, "b")
	want := readAll(t, all, enumerate(t, all, 1)[0], "")
	got := readAll(t, some, enumerate(t, some, 1)[0], "")
	for i := range want {
		if !strings.HasSuffix(want[i], " "+got[i]) {
			t.Errorf("row %d: %q is not the end of %q", i, got[i], want[i])
		}
	}
}

func TestAnEndlessSourceHandsOutSplitsForEver(t *testing.T) {
	s := newSource(t, SourceOptions{Rows: 0, SplitRows: 10, Columns: []string{"id int64"}})
	splits := enumerate(t, s, 5)
	if len(splits) != 5*maxStep {
		t.Fatalf("%d splits in 5 steps, want %d", len(splits), 5*maxStep)
	}
	last := readAll(t, s, splits[len(splits)-1], "")
	if len(last) != 10 || last[9] != "id=3200\n" {
		t.Errorf("the last split ends with %q of %d rows", last[len(last)-1], len(last))
	}
}

func TestASplitOfOtherColumnsIsRefused(t *testing.T) {
	s := newSource(t, SourceOptions{Rows: 10, Columns: []string{"id int64", "a text"}})
	other := newSource(t, SourceOptions{Rows: 10, Columns: []string{"id int64", "a int32"}})
	_, err := other.Open(t.Context(), enumerate(t, s, 1)[0], "")
	if err == nil || connector.ClassOf(err) != connector.Permanent {
		t.Errorf("error is %v, want a permanent one", err)
	}
}

func TestCellsKeepWithinTheirTypes(t *testing.T) {
	s := newSource(t, SourceOptions{Rows: 20000, SplitRows: 20000, Nulls: 0.2, Columns: []string{
		"id int64", "t text(3)", "b bytes(2)", "d decimal(5,2)", "small decimal(2,4)", "neg decimal(3,-2)", "bit bit(5)", "ts timestamp(3)", "e array of text", "u uint64",
	}})
	r, err := s.Open(t.Context(), enumerate(t, s, 1)[0], "")
	if err != nil {
		t.Fatal(err)
	}
	nulls := 0
	b := new(batch.Batch)
	for {
		b.Reset(s.schema)
		if err := r.Next(t.Context(), b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if b.Rows > batch.MaxRows || len(b.Buf) > 2*batch.MaxBytes {
			t.Fatalf("a batch of %d rows and %d bytes", b.Rows, len(b.Buf))
		}
		for i := range b.Rows {
			if b.Columns[0].IsNull(i) {
				t.Fatal("the key is NULL")
			}
			for c := range b.Columns {
				cell := b.Columns[c].Cell(i)
				if cell == nil {
					nulls++
				} else if why := wrong(s.schema.Fields[c].Name, cell); why != "" {
					t.Fatalf("row %d: %s %q: %s", i, s.schema.Fields[c].Name, cell, why)
				}
			}
		}
	}
	if share := float64(nulls) / (9 * 20000); share < 0.19 || share > 0.21 {
		t.Errorf("%.3f of the cells are NULL, want 0.2", share)
	}
}

// wrong says what is not right about a cell of TestCellsKeepWithinTheirTypes.
func wrong(column string, cell []byte) string {
	digits := bytes.TrimLeft(bytes.ReplaceAll(bytes.TrimPrefix(cell, []byte("-")), []byte("."), nil), "0")
	_, after, _ := bytes.Cut(cell, []byte("."))
	switch {
	case column == "t" && utf8.RuneCount(cell) > 3, column == "b" && len(cell) > 2, column == "bit" && len(cell) != 5:
		return "too long"
	case column == "d" && (len(digits) > 5 || len(after) != 2):
		return "not a decimal(5,2)"
	case column == "small" && (len(digits) > 2 || len(after) != 4):
		return "not a decimal(2,4)"
	case column == "neg" && (len(digits) > 5 || len(digits) > 0 && !bytes.HasSuffix(digits, []byte("00"))):
		return "not a decimal(3,-2)"
	case column == "ts" && (len(after) > 3 || bytes.HasSuffix(after, []byte("0"))):
		return "not a timestamp(3)"
	case column != "b" && !utf8.Valid(cell):
		return "not UTF-8"
	}
	return ""
}

func TestCellsAreCanonicalTexts(t *testing.T) {
	s := newSource(t, SourceOptions{Rows: 2000, SplitRows: 2000, Columns: append([]string{
		"a1 array of text", "a2 array of timestamp", "a3 array of array of int32", "d decimal", "f float32", "ts timestamp(0)", "u untyped",
	}, defaultColumns()...)})
	r, err := s.Open(t.Context(), enumerate(t, s, 1)[0], "")
	if err != nil {
		t.Fatal(err)
	}
	b := new(batch.Batch)
	b.Reset(s.schema)
	if err := r.Next(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for c, f := range s.schema.Fields {
		canonical, err := value.Canonical(f.Type)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			cell := b.Columns[c].Cell(i)
			if cell == nil {
				continue
			}
			if got, err := canonical(nil, cell); err != nil || string(got) != string(cell) {
				t.Errorf("%s %q: canonical is %q, error %v", f.Name, cell, got, err)
				break
			}
		}
	}
}

// defaultColumns are the default fields as options.
func defaultColumns() []string {
	var columns []string
	for _, f := range defaultFields("id") {
		columns = append(columns, f.Name+" "+f.Type.String())
	}
	return columns
}

func TestAllocMakingRecords(t *testing.T) {
	s := newSource(t, SourceOptions{Rows: 0, Nulls: 0.05})
	r, err := s.Open(t.Context(), enumerate(t, s, 1)[0], "")
	if err != nil {
		t.Fatal(err)
	}
	rd := r.(*reader)
	rd.end = 1 << 40
	b := new(batch.Batch)
	rows := 0
	allocs := testing.AllocsPerRun(20, func() {
		b.Reset(s.schema)
		if err := r.Next(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		rows = b.Rows
	})
	if perRow := allocs / float64(rows); perRow > 0.01 {
		t.Errorf("%.3f allocations per row", perRow)
	}
}

func TestWrongOptionsAreAllReported(t *testing.T) {
	o := SourceOptions{Rows: -1, Nulls: 2, Columns: []string{"a", "b int", "b int", "c named", "id bool"}, Key: "id"}
	err := o.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"rows is -1", "split_rows is 0", "nulls is 2", `column "a" must be`, `"b" twice`, `column "c"`, `key column "id"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	s := newSource(b, SourceOptions{Rows: 0, Nulls: 0.05})
	r, err := s.Open(b.Context(), s.split(0, 0, 1<<40), "")
	if err != nil {
		b.Fatal(err)
	}
	bt := new(batch.Batch)
	rows := 0
	for b.Loop() {
		bt.Reset(s.schema)
		if err := r.Next(b.Context(), bt); err != nil {
			b.Fatal(err)
		}
		rows += bt.Rows
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
