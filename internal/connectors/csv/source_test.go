package csv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/files/filestest"
	"github.com/leatdata/leat/internal/storage"
)

func TestAirportsAreReadAndTyped(t *testing.T) {
	text, err := os.ReadFile("../../../examples/data/airports.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []string{"64MiB", "10KiB"} {
		s := mustSource(t, map[string]any{"split_size": size}, string(text))
		schema, err := s.Infer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range schema.Fields {
			got = append(got, f.Name+" "+f.Type.String())
		}
		want := "iata text, name text, city text, state text, country text, latitude float64, longitude float64"
		if strings.Join(got, ", ") != want {
			t.Errorf("split size %s: got %s, want %s", size, strings.Join(got, ", "), want)
		}
		res, err := readAll(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.rows) != 3376 || len(res.rejects) != 0 {
			t.Errorf("split size %s: %d rows and %d rejects", size, len(res.rows), len(res.rejects))
		}
		if size == "10KiB" && res.splits < 10 {
			t.Errorf("%d splits of 10 KiB", res.splits)
		}
		if want := row("0E0", "Moriarty", "Moriarty", "NM", "USA", "34.98560639", "-106.0094661"); res.rows[47] != want {
			t.Errorf("row 48: got %v, want %v", res.rows[47], want)
		}
	}
}

func TestInferenceKeepsEveryTextAsItIs(t *testing.T) {
	s := mustSource(t, nil, "a,b,c,d,e,f,g\n1,007,1.50,2024-01-31,true,,x\n-20,1,2.25,1999-12-01,false,,\n", "a,b,c,d,e,f,g\n3,2,0.75,,true,,y\nragged\n")
	schema, err := s.Infer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range schema.Fields {
		got = append(got, f.Type.String())
	}
	if want := "int64 text decimal(3,2) date bool text text"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
}

func TestHeaderHasToTellColumnsApart(t *testing.T) {
	_, err := readAll(t, mustSource(t, nil, "id,,name,id\n1,2,3,4\n"))
	if connector.ClassOf(err) != connector.Usage {
		t.Fatalf("class %s: %v", connector.ClassOf(err), err)
	}
	for _, part := range []string{"column 2 has no name", `columns 1 and 4 are both named "id"`, "names"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	res := mustRead(t, map[string]any{"names": "id,x,name,id2"}, "id,,name,id\n1,2,3,4\n")
	if got := strings.Join(res.schema.Names(), " "); got != "id x name id2" {
		t.Errorf("names %s", got)
	}
	compare(t, "rows", res.rows, []rec{row("1", "2", "3", "4")})
}

func TestNamesWithoutAHeader(t *testing.T) {
	res := mustRead(t, map[string]any{"header": false}, "1,2\n3,4\n")
	if got := strings.Join(res.schema.Names(), " "); got != "c1 c2" {
		t.Errorf("names %s", got)
	}
	compare(t, "rows", res.rows, []rec{row("1", "2"), row("3", "4")})
	res = mustRead(t, map[string]any{"header": false, "names": []any{"x", "y"}}, "1,2\n3\n")
	if got := strings.Join(res.schema.Names(), " "); got != "x y" {
		t.Errorf("names %s", got)
	}
	if len(res.rows) != 1 || len(res.rejects) != 1 {
		t.Errorf("%d rows, %d rejects", len(res.rows), len(res.rejects))
	}
	if _, err := readAll(t, mustSource(t, map[string]any{"names": "a,b,c"}, "a,b\n")); err == nil || !strings.Contains(err.Error(), "3 names") {
		t.Errorf("three names for two columns: %v", err)
	}
}

func TestSkippedLinesAndHeader(t *testing.T) {
	res := mustRead(t, map[string]any{"skip_lines": 2}, "made \"by hand\non a day\na,b\n1,2\n3\n")
	compare(t, "rows", res.rows, []rec{row("1", "2")})
	if len(res.rejects) != 1 || !strings.HasSuffix(res.rejects[0].Where, "line 5") {
		t.Errorf("rejects %+v", res.rejects)
	}
}

func TestAllFilesHaveTheColumnsOfTheFirst(t *testing.T) {
	res := mustRead(t, nil, "a,b\n1,2\n", "", "\xef\xbb\xbfa,b\r\n3,4\r\n", "a,b")
	compare(t, "rows", res.rows, []rec{row("1", "2"), row("3", "4")})
	if _, err := readAll(t, mustSource(t, nil, "a,b\n1,2\n", "b,a\n3,4\n")); err == nil || !strings.Contains(err.Error(), "b.csv") {
		t.Errorf("columns in another order: %v", err)
	}
	if _, err := readAll(t, mustSource(t, nil, "a,b\n1,2\n", "a,b\r3,4\r")); err == nil || !strings.Contains(err.Error(), "lines end in another way") {
		t.Errorf("other line ends: %v", err)
	}
}

func TestAnEmptyFile(t *testing.T) {
	if res := mustRead(t, nil, ""); len(res.rows)+len(res.rejects)+len(res.schema.Fields) != 0 {
		t.Errorf("without a header: %+v", res)
	}
	for _, text := range []string{"", "a,b", "a,b\n", "a,b\r\n"} {
		res := mustRead(t, map[string]any{"names": "x,y"}, text)
		if len(res.rows)+len(res.rejects) != 0 || len(res.schema.Fields) != 2 {
			t.Errorf("%q: %+v", text, res)
		}
	}
}

func TestBareCarriageReturnsEndLines(t *testing.T) {
	res := mustRead(t, map[string]any{"split_size": "4B"}, "a,b\r1,\"x\r\ny\"\r2,z\r3\r")
	compare(t, "rows", res.rows, []rec{row("1", "x\r\ny"), row("2", "z")})
	if len(res.rejects) != 1 || !strings.Contains(res.rejects[0].Reason, "1 field where 2 are expected") {
		t.Errorf("rejects %+v", res.rejects)
	}
	if res.splits < 2 {
		t.Errorf("%d splits", res.splits)
	}
}

// A split says how its file's lines end: other files may stand first later.
func TestASplitKeepsItsLineEnds(t *testing.T) {
	for _, c := range []struct{ split, first string }{
		{"a,b\r1,2\r3,4", "a,b\n5,6\n"},
		{"a,b\n1,2\n3,4", "a,b\r5,6\r"},
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("b.csv", c.split)
		o := SourceOptions{}
		if err := option.Parse(map[string]any{"path": dir}, &o); err != nil {
			t.Fatal(err)
		}
		open := func() *Source {
			s, err := NewSource(storage.Local{}, nil, &o, connector.SourceEnv{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		e, err := open().Enumerate(t.Context(), "", 0, connector.Want{Parallelism: 1})
		if err != nil || len(e.Splits) != 1 {
			t.Fatal(e, err)
		}
		write("a.csv", c.first)
		later := open()
		var res result
		if res.schema, err = later.Schema(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := readSplit(t, later, e.Splits[0], &res); err != nil {
			t.Fatal(err)
		}
		compare(t, "rows", res.rows, []rec{row("1", "2"), row("3", "4")})
	}
}

func TestDeclaredTypes(t *testing.T) {
	types := map[string]any{"n": "int32", "ok": "bool", "at": "timestamp", "raw": "bytes", "price": "decimal(6,2)"}
	res := mustRead(t, map[string]any{"types": types}, "n,ok,at,raw,price,rest\n"+
		"007,t,2024-01-31,\\x4142,7.1,\"a\"\"b\"\n"+
		"12x,t,2024-01-31,\\x41,7.10,late\n"+
		"only\n"+
		",,,,,\n"+
		"5,\"\",2024-01-31,\\x41,7.10,empty is not a bool\n"+
		"-1,false,2024-01-31 10:00:00.5,\\x,123456.00,too big\n"+
		"-2,false,2024-01-31 10:00:00.5,\\x,0.00,last")
	if got := res.schema.Fields[4].Type.String(); got != "decimal(6,2)" {
		t.Errorf("type %s", got)
	}
	compare(t, "rows", res.rows, []rec{
		row("7", "true", "2024-01-31 00:00:00", "AB", "7.10", `a"b`),
		row(nil, nil, nil, nil, nil, nil),
		row("-2", "false", "2024-01-31 10:00:00.5", "", "0.00", "last"),
	})
	want := map[string]string{"line 3": "n", "line 4": "", "line 6": "ok", "line 7": "price"}
	for _, r := range res.rejects {
		_, line, _ := strings.Cut(r.Where, ": ")
		column, ok := want[line]
		if !ok || r.Column != column || r.Reason == "" || column != "" && len(r.Values) != 6 {
			t.Errorf("reject %+v", r)
		}
		delete(want, line)
	}
	if len(want) > 0 {
		t.Errorf("not rejected: %v", want)
	}
	_, err := readAll(t, mustSource(t, map[string]any{"types": map[string]any{"m": "int8"}}, "n\n1\n"))
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), `"m"`) {
		t.Errorf("a type for no column: %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		options map[string]any
		part    string
	}{
		{map[string]any{"delimiter": "ab"}, "delimiter"},
		{map[string]any{"delimiter": "\n"}, "delimiter"},
		{map[string]any{"delimiter": "§"}, "delimiter"},
		{map[string]any{"delimiter": "'", "quote": "'"}, "quote"},
		{map[string]any{"quote": ""}, "quote"},
		{map[string]any{"escape": "backslash", "quote": `\`}, "backslash"},
		{map[string]any{"null_token": "a,b"}, "null_token"},
		{map[string]any{"null_token": `"x`}, "null_token"},
		{map[string]any{"types": map[string]any{"a": "itn"}}, "itn"},
		{map[string]any{"skip_lines": -1}, "skip_lines"},
		{map[string]any{"names": "a,a"}, "names"},
		{map[string]any{"encoding": "klingon"}, "klingon"},
	} {
		if _, err := sourceOf(t, c.options, "a\n1\n"); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%v: %v", c.options, err)
		}
	}
	if _, err := sourceOf(t, map[string]any{"delimiter": "x", "quote": "x", "skip_lines": -1, "types": map[string]any{"a": "itn"}}, ""); err == nil ||
		!strings.Contains(err.Error(), "quote") || !strings.Contains(err.Error(), "skip_lines") || !strings.Contains(err.Error(), "itn") {
		t.Errorf("not all problems are told at once: %v", err)
	}
}

func TestLargeFilesSplitRightlyWithQuotedLineEnds(t *testing.T) {
	var text strings.Builder
	var want []rec
	text.WriteString("id,\"text\nof notes\"\n")
	for i := range 600 {
		note := strings.Repeat("line\n\"quoted\", ", i%7)
		fmt.Fprintf(&text, "%d,\"%s\"\n", i, strings.ReplaceAll(note, `"`, `""`))
		want = append(want, row(fmt.Sprint(i), note))
	}
	for _, size := range []string{"1B", "100B", "8KiB"} {
		res := mustRead(t, map[string]any{"split_size": size}, text.String())
		compare(t, "rows", res.rows, want)
		if len(res.rejects) > 0 || res.splits < 3 {
			t.Errorf("split size %s: %d splits, rejects %v", size, res.splits, res.rejects)
		}
		if size == "1B" && res.splits != 600 {
			t.Errorf("%d splits where each record is one", res.splits)
		}
	}
}

func TestEncodingsAndCompression(t *testing.T) {
	// 中,文 in GB18030, then as it is in a gzip file.
	res := mustRead(t, map[string]any{"encoding": "gb18030"}, "a,b\n\xd6\xd0,\"\xce\xc4\"\n")
	compare(t, "gb18030", res.rows, []rec{row("中", "文")})
	res = mustRead(t, nil, filestest.Gzip(t, "a,b\n中,\"文\n\"\n"))
	compare(t, "gzip", res.rows, []rec{row("中", "文\n")})
}

func TestStandardInputIsReadOnce(t *testing.T) {
	var o SourceOptions
	if err := option.Parse(map[string]any{"path": "-"}, &o); err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(storage.Local{}, strings.NewReader("a,b\r\n1,\r\n2,x"), &o, connector.SourceEnv{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	schema, err := s.Infer(t.Context())
	if err != nil || schema.Fields[0].Type.Kind != batch.Text {
		t.Errorf("inferred %v, %v", schema, err)
	}
	res, err := readAll(t, s)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "rows", res.rows, []rec{row("1", nil), row("2", "x")})
}

// Lines that end with CR are counted in every split, also where a record is
// told by the reader and not by the decoder.
func TestLinesThatEndWithCRAreCounted(t *testing.T) {
	text := "a,b\r1,x\r\"2\r\",\"y\n\"\r3\r4,z\r5,\xff\r6\r"
	for _, size := range []string{"1B", "9B", "64MiB"} {
		res := mustRead(t, map[string]any{"split_size": size}, text)
		compare(t, "rows", res.rows, []rec{row("1", "x"), row("2\r", "y\n"), row("4", "z")})
		var where []string
		for _, r := range res.rejects {
			_, line, _ := strings.Cut(r.Where, ": ")
			where = append(where, line)
		}
		slices.Sort(where) // an invalid record comes after the others of its batch
		if got := strings.Join(where, ", "); got != "line 5, line 7, line 8" {
			t.Errorf("split size %s: dirty are %s", size, got)
		}
	}
}
