package csv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/files/filestest"
	"github.com/leatdata/leat/internal/storage"
)

// A position in a compressed file is found by decoding up to it, so the
// compressed one is small.
func TestSourceContract(t *testing.T) {
	for _, c := range []struct {
		name string
		rows int
		end  string
		o    files.SourceOptions
		d    DialectOptions
		typ  map[string]string
	}{
		{name: "plain", rows: 20000, end: "\n", o: files.SourceOptions{SplitSize: 100 << 10}},
		{name: "one split a record", rows: 60, end: "\r\n", o: files.SourceOptions{SplitSize: 1}},
		{name: "lines that end with CR", rows: 3000, end: "\r", o: files.SourceOptions{SplitSize: 10 << 10}},
		{name: "declared types", rows: 3000, end: "\n", o: files.SourceOptions{SplitSize: 10 << 10}, typ: map[string]string{"id": "int64", "v": "text"}},
		{name: "backslashes and tabs", rows: 3000, end: "\n", o: files.SourceOptions{SplitSize: 10 << 10}, d: DialectOptions{Delimiter: "tab", Quote: "'", Escape: "backslash", Null: `\N`}},
		{name: "gzip", rows: 3000, end: "\n", o: files.SourceOptions{Compression: "gzip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := SourceOptions{SourceOptions: c.o, DialectOptions: c.d, LineEnd: "auto", TypesOption: files.TypesOption{Types: c.typ}}
			if o.Delimiter == "" {
				o.Delimiter, o.Quote = ",", `"`
			}
			o.Header = true
			filestest.RunSource(t, "a.csv", c.o.Compression, contractText(c.rows, c.end, &o), func(t testing.TB, path string) connector.Source {
				o := o
				o.Path = []string{path}
				return contractSource(t, &o)
			})
		})
	}
}

func contractSource(t testing.TB, o *SourceOptions) connector.Source {
	t.Helper()
	s, err := NewSource(storage.Local{}, nil, o, connector.SourceEnv{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contractText is a file of columns id and v, with what it holds.
func contractText(n int, end string, o *SourceOptions) filestest.Text {
	var text strings.Builder
	var rows []connectortest.Row
	rejects := 0
	d, q := o.Delimiter, o.Quote
	if d == "tab" {
		d = "\t"
	}
	text.WriteString("id" + d + "v" + end)
	for i := range n {
		id := fmt.Sprint(i)
		switch i % 6 {
		case 0:
			text.WriteString(id + d + o.Null + end)
			rows = append(rows, connectortest.Row{id, connectortest.Null})
		case 1:
			text.WriteString(id + d + q + q + end)
			rows = append(rows, connectortest.Row{id, ""})
		case 2:
			text.WriteString(id + end)
			rejects++
		case 3:
			text.WriteString(q + id + q + d + q + "é" + q + q + d + "\n\r" + id + q + end)
			rows = append(rows, connectortest.Row{id, "é" + q + d + "\n\r" + id})
		case 4:
			text.WriteString(id + d + "a" + q + "b" + end)
			rows = append(rows, connectortest.Row{id, "a" + q + "b"})
		default:
			v := strings.Repeat("v", i%70)
			text.WriteString(id + d + "v" + v + end)
			rows = append(rows, connectortest.Row{id, "v" + v})
		}
	}
	return filestest.Text{Text: text.String(), Rows: rows, Rejects: rejects}
}

func TestSinkContract(t *testing.T) {
	for _, c := range []struct {
		path string
		o    SinkOptions
	}{
		{path: "out.csv"},
		{path: "folder/"},
		{path: "zipped/", o: SinkOptions{SinkOptions: files.SinkOptions{Compression: "zstd"}}},
		{path: "out.tsv", o: SinkOptions{DialectOptions: DialectOptions{Delimiter: "tab", Quote: "'", Escape: "backslash", Null: `\N`}, LineEnd: "crlf"}},
		{path: "no-quotes.txt", o: SinkOptions{DialectOptions: DialectOptions{Delimiter: "|", Quote: "none", Escape: "backslash", Null: `\N`}}},
	} {
		t.Run(c.path, func(t *testing.T) {
			o := c.o
			o.Mode, o.RollSize, o.Header = "overwrite", 100<<10, true
			if o.Delimiter == "" {
				o.Delimiter, o.Quote = ",", `"`
			}
			if o.LineEnd == "" {
				o.LineEnd = "lf"
			}
			open := func(t testing.TB, path string) connector.Sink {
				o := o
				o.Path = path
				s, err := NewSink(storage.Local{}, nil, &o, connector.SinkEnv{})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			filestest.RunSink(t, c.path, open, func(t testing.TB, path string) connector.Source {
				o := o
				o.Path = path
				return contractSource(t, readback(&o))
			})
		})
	}
}
