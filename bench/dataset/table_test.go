package dataset

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// TestBytesAreFixed holds that figures of different days are of the same data:
// whoever changes a table raises generation and these sums.
func TestBytesAreFixed(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		table Table
		bytes int
		sum   string
	}{
		{Lineitem(), 1_233_841, "bd57fce2c6a0e469"},
		{Wide(), 5_087_703, "6ade2c5a2b62b5b7"},
		{Narrow(), 500_649, "e827907f365d810d"},
	} {
		f, err := want.table.Make(t.TempDir(), 10_000)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(f.Whole)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:8]); got != want.sum || len(text) != want.bytes || f.Bytes != int64(len(text)) {
			t.Errorf("%s: %d bytes (%d said), sum %s; want %d bytes, sum %s",
				want.table.Name, len(text), f.Bytes, got, want.bytes, want.sum)
		}
	}
}

func TestHalvesAreTheWhole(t *testing.T) {
	t.Parallel()
	for _, table := range []Table{Lineitem(), Wide(), Narrow()} {
		f, err := table.Make(t.TempDir(), 1001)
		if err != nil {
			t.Fatal(err)
		}
		whole := records(t, table, f.Whole)
		halves := append(records(t, table, f.Halves[0]), records(t, table, f.Halves[1])...)
		if len(whole) != 1001 {
			t.Errorf("%s: %d records, want 1001", table.Name, len(whole))
		}
		if strings.Join(whole, "\n") != strings.Join(halves, "\n") {
			t.Errorf("%s: the halves differ from the whole", table.Name)
		}
	}
}

// records returns the records of a file, which must have the table's columns.
func records(t *testing.T, table Table, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := strings.CutPrefix(string(text), table.Header())
	if !ok {
		t.Fatalf("%s: no header", path)
	}
	r := csv.NewReader(strings.NewReader(rest))
	r.FieldsPerRecord = len(table.Columns)
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	joined := make([]string, len(rows))
	for i, row := range rows {
		joined[i] = strings.Join(row, "|")
	}
	return joined
}

// TestTypesOfOtherSystems holds what each system calls the types of the mixed
// table. What leat calls int8 has one byte.
func TestTypesOfOtherSystems(t *testing.T) {
	t.Parallel()
	table := Lineitem()
	for _, c := range []struct{ name, list, want string }{
		{"PostgreSQL", table.DDL(), "orderkey int8, | linenumber int4, | tax decimal(15,2), | shipdate date, | comment text"},
		{"MariaDB", table.MariaDB(), "orderkey int8, | linenumber int4, | tax decimal(15,2), | shipdate date, | comment varchar(64)"},
		{"SQLite", table.SQLite(), "orderkey INTEGER, | linenumber INTEGER, | tax TEXT, | shipdate TEXT, | comment TEXT"},
		{"DuckDB", table.DuckDB(), "{orderkey: 'int8', | linenumber: 'int4', | tax: 'decimal(15,2)', | shipdate: 'date', | comment: 'text'}"},
		{"Leat", table.Leat(), `{orderkey: "int64", | linenumber: "int32", | tax: "decimal(15,2)", | shipdate: "date", | comment: "text"}`},
	} {
		for part := range strings.SplitSeq(c.want, " | ") {
			if !strings.Contains(c.list, part) {
				t.Errorf("%s: no %q in %s", c.name, part, c.list)
			}
		}
	}
}
