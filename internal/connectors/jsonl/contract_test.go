package jsonl

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
		o    files.SourceOptions
	}{
		{"plain", 20000, files.SourceOptions{SplitSize: 100 << 10}},
		{"one split a record", 60, files.SourceOptions{SplitSize: 1}},
		{"gzip", 3000, files.SourceOptions{Compression: "gzip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			open := func(t testing.TB, path string) connector.Source {
				o := SourceOptions{SourceOptions: c.o}
				o.Path = []string{path}
				return contractSource(t, &o)
			}
			filestest.RunSource(t, "a.jsonl", c.o.Compression, contractText(c.rows), open)
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
func contractText(n int) filestest.Text {
	var text strings.Builder
	var rows []connectortest.Row
	for i := range n {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&text, `{"id":%d}`+"\n", i)
			rows = append(rows, connectortest.Row{fmt.Sprint(i), connectortest.Null})
		case 1:
			fmt.Fprintf(&text, `{"v":"","id":%d}`+"\r\n", i)
			rows = append(rows, connectortest.Row{fmt.Sprint(i), ""})
		case 2:
			text.WriteString("{\"id\":\n")
		default:
			fmt.Fprintf(&text, `{"id":%d,"v":"\u00e9\n%d"}`+"\n", i, i)
			rows = append(rows, connectortest.Row{fmt.Sprint(i), fmt.Sprintf("é\n%d", i)})
		}
	}
	return filestest.Text{Text: text.String(), Rows: rows, Rejects: (n + 2) / 5}
}

func TestSinkContract(t *testing.T) {
	for _, path := range []string{"out.jsonl", "folder/", "zipped/"} {
		t.Run(path, func(t *testing.T) {
			o := SinkOptions{files.SinkOptions{Mode: "overwrite", RollSize: 100 << 10}}
			if path == "zipped/" {
				o.Compression = "zstd"
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
			filestest.RunSink(t, path, open, func(t testing.TB, path string) connector.Source {
				o := o
				o.Path = path
				read := readback(&o)
				read.Columns = []string{"id", "v"}
				return contractSource(t, read)
			})
		})
	}
}
