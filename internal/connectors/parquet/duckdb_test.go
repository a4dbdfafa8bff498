package parquet

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/testenv"
)

// duckRows returns the rows of a query of texts.
func duckRows(t *testing.T, d *testenv.DuckDB, query string) []connectortest.Row {
	t.Helper()
	var rows []connectortest.Row
	for _, r := range d.Query(t, query) {
		row := connectortest.Row{}
		for _, cell := range r {
			if cell == nil {
				row = append(row, connectortest.Null)
			} else {
				row = append(row, *cell)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// DuckDB reads in our files what was written, in every type.
func TestDuckDBReadsEveryType(t *testing.T) {
	duck := testenv.NewDuckDB(t)
	dir := t.TempDir()
	var selects []string
	want := map[string][]string{}
	for name, c := range typeCases() {
		schema := &batch.Schema{Fields: []batch.Field{{Name: "v", Type: c.t}}}
		var rows []connectortest.Row
		for _, v := range c.good {
			if v == "\x00" || strings.HasPrefix(v, "294247") || name == "instant of nanos" && strings.Contains(v, ".") {
				continue // a text that DuckDB takes for its end, its own infinity, and what it rounds
			}
			rows = append(rows, connectortest.Row{v})
			want[name] = append(want[name], v)
		}
		rows = append(rows, connectortest.Row{connectortest.Null})
		want[name] = append(want[name], connectortest.Null)
		path := filepath.Join(dir, strings.NewReplacer("(", "_", ")", "", ",", "_", " ", "_").Replace(name)+".parquet")
		write(t, storage.Local{}, SinkOptions{Path: path}, schema, batchesOf(schema, rows, len(rows))...)
		text := "CAST(v AS VARCHAR)"
		if c.t.Kind == batch.Bytes {
			text = "hex(v)"
		}
		selects = append(selects, fmt.Sprintf("SELECT '%s' AS name, file_row_number AS n, %s AS v FROM read_parquet('%s', file_row_number = true)", name, text, path))
	}
	got := map[string][]string{}
	for _, r := range duck.Query(t, "SET TimeZone = 'UTC'; SELECT name, v FROM ("+strings.Join(selects, " UNION ALL ")+") ORDER BY name, n") {
		v := connectortest.Null
		if r[1] != nil {
			v = *r[1]
		}
		got[*r[0]] = append(got[*r[0]], v)
	}
	for name, c := range typeCases() {
		if len(got[name]) != len(want[name]) {
			t.Errorf("%s: %q, want %q", name, got[name], want[name])
			continue
		}
		for i, v := range want[name] {
			if !sameInDuckDB(c.t.Kind, got[name][i], v) {
				t.Errorf("%s: DuckDB reads %q, want %q", name, got[name][i], v)
			}
		}
	}
}

// sameInDuckDB compares a text of DuckDB's with a canonical one.
func sameInDuckDB(k batch.Kind, got, want string) bool {
	switch {
	case got == connectortest.Null || want == connectortest.Null:
		return got == want
	case k.IsFloat():
		x, err1 := strconv.ParseFloat(got, 64)
		y, err2 := strconv.ParseFloat(want, 64)
		if k == batch.Float32 {
			x, y = float64(float32(x)), float64(float32(y))
		}
		return err1 == nil && err2 == nil && (math.Float64bits(x) == math.Float64bits(y) || x != x && y != y)
	case k == batch.Bytes:
		return got == fmt.Sprintf("%X", want)
	}
	if k == batch.Decimal {
		// Without a digit before the point DuckDB leaves out the zero there.
		got = regexp.MustCompile(`^(-?)\.`).ReplaceAllString(got, "${1}0.")
	}
	got = regexp.MustCompile(`^(\S+) \(BC\)(.*)$`).ReplaceAllString(got, "$1$2 BC")
	return got == want
}

func TestDuckDBReadsAllCompressionsAndEncodings(t *testing.T) {
	duck := testenv.NewDuckDB(t)
	schema, rows := mixedRows(6000, 11)
	dir := t.TempDir()
	var want []connectortest.Row
	for _, compression := range []string{"gzip", "none", "snappy", "zstd"} {
		o := SinkOptions{Path: filepath.Join(dir, compression+".parquet"), Compression: compression, RowGroupRows: 4000}
		write(t, storage.Local{}, o, schema, batchesOf(schema, rows, 2000)...)
		want = append(want, rows...)
	}
	from := fmt.Sprintf("FROM read_parquet('%s')", filepath.Join(dir, "*.parquet"))
	checkRows(t, duckRows(t, duck, "SELECT CAST(COLUMNS(*) AS VARCHAR) "+from), want)
	// The bounds in the footer leave nothing out.
	got := duckRows(t, duck, "SELECT CAST(count(*) AS VARCHAR) "+from+" WHERE sorted = "+rows[5000][0])
	checkRows(t, got, []connectortest.Row{{"4"}})
}
