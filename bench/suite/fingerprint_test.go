package suite

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/bench/process"
)

// refuses fails the test unless the case, of its first contender and this one,
// finds that they leave different things.
func refuses(t *testing.T, e *Env, c Case, name string, commands func() ([]process.Command, error)) {
	t.Helper()
	c.Contenders = []Contender{c.Contenders[0], {Name: name, Streams: 1, commands: commands}}
	_, err := e.Run(t.Context(), c, 1, io.Discard)
	if err == nil || !strings.Contains(err.Error(), name+", streams 1: the target holds") {
		t.Errorf("%s: got %v", name, err)
	}
}

// TestWrongParquetIsCaught has DuckDB write other types, and another value.
func TestWrongParquetIsCaught(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.toParquet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good, err := c.Contenders[0].commands()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a float":     {"'decimal(15,2)'", "'double'"},
		"other names": {"orderkey:", "order_key:"},
		"less":        {"columns = {", "skip = 2, columns = {"},
		"other value": {"SELECT *", "SELECT * REPLACE ((CASE linenumber WHEN 3 THEN 4 ELSE linenumber END)::int4 AS linenumber)"},
	} {
		wrong := good[0]
		wrong.Args = slices.Clone(wrong.Args)
		last := len(wrong.Args) - 1
		wrong.Args[last] = strings.Replace(wrong.Args[last], change[0], change[1], 1)
		if wrong.Args[last] == good[0].Args[last] {
			t.Fatalf("%s changes nothing in %s", name, wrong.Args[last])
		}
		refuses(t, e, c, name, command(wrong))
	}
}

// TestWrongRowsOfMariaDBAreCaught damages what a peer has copied.
func TestWrongRowsOfMariaDBAreCaught(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.csvToMySQL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good, err := c.Contenders[0].commands()
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]string{
		"a row less":      "DELETE FROM li LIMIT 1",
		"another decimal": "UPDATE li SET tax = tax + 0.01 LIMIT 1",
		"a NULL":          "UPDATE li SET comment = NULL LIMIT 1",
		"a cell moved":    "UPDATE li SET comment = concat(shipmode, '|', comment), shipmode = '' LIMIT 1",
	} {
		wrong := good[0]
		wrong.Args = slices.Clone(wrong.Args)
		at := slices.IndexFunc(wrong.Args, func(arg string) bool { return strings.HasPrefix(arg, "--execute=") })
		wrong.Args[at] += "; " + damage
		refuses(t, e, c, name, command(wrong))
	}
}

// TestWrongRowsOfSQLiteAreCaught damages what sqlite3 has copied.
func TestWrongRowsOfSQLiteAreCaught(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.toSQLite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	good, err := c.Contenders[0].commands()
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]string{
		"a row less":      "DELETE FROM li WHERE rowid = 1",
		"another decimal": "UPDATE li SET tax = '0.0' WHERE rowid = 1",
		"a NULL":          "UPDATE li SET comment = NULL WHERE rowid = 1",
	} {
		wrong := good[0]
		wrong.Args = append(slices.Clone(wrong.Args), damage)
		refuses(t, e, c, name, command(wrong))
	}
}

// TestRecordsAreComparedByWhatTheySay holds that quotes, line ends and order do
// not matter where records are hashed, and that everything else does.
func TestRecordsAreComparedByWhatTheySay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	take := recordsFingerprint(csvFiles(dir), "a,b\n")
	of := func(files ...string) (Fingerprint, error) {
		for _, pattern := range csvFiles(dir) {
			old, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range old {
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, text := range files {
			if err := os.MkdirAll(filepath.Join(dir, "parts"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "parts", fmt.Sprintf("%d.csv", i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return take(context.Background())
	}
	want, err := of("a,b\n1,x y\n2,z\n")
	if err != nil || want.Rows != 2 {
		t.Fatalf("got %+v, %v", want, err)
	}
	if got, err := of("a,b\r\n\"2\",z\r\n", "a,b\r\n1,\"x y\"\r\n"); err != nil || got != want {
		t.Errorf("the same records give %+v (%v), want %+v", got, err, want)
	}
	for _, other := range []string{"a,b\n1,x y\n", "a,b\n1,x y\n1,x y\n", "a,b\n1,x\n2,z\n", "a,b\n1x, y\n2,z\n"} {
		if got, err := of(other); err != nil || got == want {
			t.Errorf("%q gives %+v (%v), the same as other records", other, got, err)
		}
	}
	for _, wrong := range []string{"b,a\n1,x y\n", "a,b\n1,2,3\n", ""} {
		if got, err := of(wrong); err == nil {
			t.Errorf("%q gives %+v", wrong, got)
		}
	}
	if _, err := of(); err == nil {
		t.Error("no file is no error")
	}
}

// TestPeersThatDoAnotherCopy are held to their own first run, and to the number
// of rows that theirs has.
func TestPeersThatDoAnotherCopy(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.castAndFilter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows <= e.Rows*9/10 || c.Rows >= e.Rows {
		t.Errorf("the filter leaves %d rows of %d", c.Rows, e.Rows)
	}
	c = c.WithoutLeat()
	result, err := e.Run(t.Context(), c, 2, io.Discard)
	if err != nil || len(result.Rounds) != 2 {
		t.Fatalf("got %d contenders, %v", len(result.Rounds), err)
	}
	other := *c.Contenders[0].other
	other.rows--
	c.Contenders[0].other = &other
	if _, err := e.Run(t.Context(), c, 1, io.Discard); err == nil || !strings.Contains(err.Error(), "want 2999 rows") {
		t.Errorf("got %v", err)
	}
}
