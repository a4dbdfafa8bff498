package measure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// mostMemory is the peak of resident memory, whatever the table's size.
const mostMemory = 100_000_000

// TestMemoryIsFlat copies tables of 40 and 160 MB there and back.
func TestMemoryIsFlat(t *testing.T) {
	pg := testenv.Postgres(t)
	for _, rows := range []int{300_000, 1_200_000} {
		url, path := pg.Database(t), writeLineitem(t, rows)
		pg.Exec(t, url, "CREATE UNLOGGED TABLE lineitem "+lineitem)
		in := leat(t, "copy", path, url+"&table=lineitem", "--parallelism", "2")
		if n := testenv.Value[int64](t, url, "SELECT count(*) FROM lineitem"); n != int64(rows) {
			t.Fatalf("%d rows of %d", n, rows)
		}
		out := leat(t, "copy", url+"&table=lineitem", filepath.Join(t.TempDir(), "out")+"/", "--parallelism", "2")
		lite := leat(t, "copy", path, filepath.Join(t.TempDir(), "out.jsonl.gz"))
		for name, exit := range map[string]testenv.Exit{"csv to postgres": in, "postgres to csv": out, "csv to jsonl.gz": lite} {
			bounded(t, fmt.Sprintf("%s, %d rows", name, rows), exit, mostMemory)
		}
	}
}

// TestMemoryOfManyColumns copies rows of 1,500 columns, nearly all of which
// are NULL: their places take more room than their text.
func TestMemoryOfManyColumns(t *testing.T) {
	const columns, rows = 1500, 20_000
	var text bytes.Buffer
	for i := range columns {
		fmt.Fprintf(&text, "c%d,", i)
	}
	text.Truncate(text.Len() - 1)
	for i := range rows {
		fmt.Fprintf(&text, "\n%d%s", i, strings.Repeat(",", columns-1))
	}
	path := filepath.Join(t.TempDir(), "wide.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	bounded(t, "1,500 columns to postgres", leat(t, "copy", path, url+"&table=wide", "--parallelism", "2"), mostMemory)
	if n := testenv.Value[int64](t, url, "SELECT count(*) FROM wide"); n != rows {
		t.Fatalf("%d rows of %d", n, rows)
	}
}

func bounded(t *testing.T, name string, exit testenv.Exit, most int64) {
	t.Helper()
	t.Logf("%s: peak %d MB, CPU %v", name, exit.MaxRSS/1e6, exit.User+exit.System)
	if exit.MaxRSS > most {
		t.Errorf("%s: peak %d MB of resident memory, at most %d are allowed", name, exit.MaxRSS/1e6, most/1e6)
	}
}
