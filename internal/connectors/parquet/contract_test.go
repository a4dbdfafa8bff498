package parquet

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/files/filestest"
	"github.com/leatdata/leat/internal/storage"
)

func TestSinkContract(t *testing.T) {
	for _, path := range []string{"out.parquet", "folder/"} {
		t.Run(path, func(t *testing.T) {
			open := func(t testing.TB, path string) connector.Sink {
				return newTestSink(t, storage.Local{}, SinkOptions{Path: path, RollSize: 100 << 10, RowGroupRows: 1000, RowGroupSize: 1 << 20})
			}
			filestest.RunSink(t, path, open, func(t testing.TB, path string) connector.Source {
				return newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})
			})
		})
	}
}

func TestSourceContract(t *testing.T) {
	for _, c := range []struct {
		name        string
		rows, group int
		split       option.Size
	}{
		{"one split", 20000, 5000, 0},
		{"one split a row group", 20000, 1000, 1},
		{"one row a row group", 60, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.parquet")
			rows := contractRows(c.rows)
			o := SinkOptions{Path: path, RowGroupRows: c.group, RowGroupSize: 1 << 20}
			write(t, storage.Local{}, o, connectortest.Schema(), batchesOf(connectortest.Schema(), rows, c.group)...)
			connectortest.RunSource(t, connectortest.SourceHarness{
				New: func(t testing.TB) connector.Source {
					return newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}, SplitSize: c.split})
				},
				Rows: rows,
			})
		})
	}
}

// contractRows are records of the columns id and v.
func contractRows(n int) []connectortest.Row {
	var rows []connectortest.Row
	for i := range n {
		v := fmt.Sprintf("é\n%d", i/3)
		switch i % 5 {
		case 0:
			v = connectortest.Null
		case 1:
			v = ""
		}
		rows = append(rows, connectortest.Row{fmt.Sprint(i), v})
	}
	return rows
}

// batchesOf puts rows into batches of at most so many.
func batchesOf(schema *batch.Schema, rows []connectortest.Row, most int) []*batch.Batch {
	var all []*batch.Batch
	for len(rows) > 0 {
		n := min(most, len(rows), batch.RowsOf(len(schema.Fields)))
		b := &batch.Batch{}
		b.Reset(schema)
		for _, row := range rows[:n] {
			for _, cell := range row {
				if cell == connectortest.Null {
					b.AppendNull()
				} else {
					b.Append([]byte(cell))
				}
			}
		}
		b.Seal()
		all = append(all, b)
		rows = rows[n:]
	}
	return all
}
