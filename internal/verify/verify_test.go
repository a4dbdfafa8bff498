package verify

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func parse(t *testing.T, text string) *job.Job {
	t.Helper()
	j, err := job.Parse([]byte(text), "test.yaml", job.Vars{}, connectors.All())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// files writes two CSV files and returns a job between them.
func files(t *testing.T, source, target, more string) *job.Job {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": source, "b.csv": target} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return parse(t, fmt.Sprintf("name: x\nsource: {csv: {path: %s}}\nsink: {csv: {path: %s}}\n%s",
		filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv"), more))
}

func verify(t *testing.T, j *job.Job, opts Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), j, opts, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestComparesContentsWhateverTheOrder(t *testing.T) {
	const source = "id,name\n1,a\n2,\n3,\"\"\n3,\"\"\n"
	for name, c := range map[string]struct {
		target, more string
		equal        bool
	}{
		"same":             {source, "", true},
		"other order":      {"id,name\n3,\"\"\n2,\n3,\"\"\n1,a\n", "", true},
		"columns by name":  {"name,id\na,1\n,2\n\"\",3\n\"\",3\n", "", true},
		"quoted alike":     {"id,name\n\"1\",\"a\"\n2,\n3,\"\"\n3,\"\"\n", "", true},
		"one missing":      {"id,name\n1,a\n2,\n3,\"\"\n", "", false},
		"one twice":        {source + "1,a\n", "", false},
		"doubled for lost": {"id,name\n1,a\n1,a\n3,\"\"\n3,\"\"\n", "", false},
		"NULL for empty":   {"id,name\n1,a\n2,\n3,\n3,\"\"\n", "", false},
		"empty for NULL":   {"id,name\n1,a\n2,\"\"\n3,\"\"\n3,\"\"\n", "", false},
		"cells shifted":    {"id,name\n,1a\n2,\n3,\"\"\n3,\"\"\n", "", false},
		"where":            {"id,name\n1,a\n", "where: id == \"1\"\n", true},
		"constant":         {"id,x\n1,k\n2,k\n3,k\n3,k\n", "columns: [id, {name: x, value: k}]\n", true},
		"rename":           {"n,id\n1,a\n2,\n3,\"\"\n3,\"\"\n", "columns: [{name: id, from: name}, {name: n, from: id}]\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := verify(t, files(t, source, c.target, c.more), Options{})
			if r.Equal() != c.equal {
				t.Errorf("equal is %v: %+v", r.Equal(), r)
			}
			if len(r.Ranges) > 0 {
				t.Errorf("ranges without a key: %+v", r.Ranges)
			}
		})
	}
}

func TestSaysWhichRangesDiffer(t *testing.T) {
	var source, target strings.Builder
	source.WriteString("id,v\n")
	target.WriteString("id,v\n")
	for i := -500; i < 5000; i++ {
		fmt.Fprintf(&source, "%d,x%d\n", i, i)
		switch i {
		case -500: // lost at the start
		case 1000: // changed
			fmt.Fprintf(&target, "%d,other\n", i)
		case 4999: // doubled at the end
			fmt.Fprintf(&target, "%d,x%d\n%d,x%d\n", i, i, i, i)
		default:
			fmt.Fprintf(&target, "%d,x%d\n", i, i)
		}
	}
	j := files(t, source.String(), target.String(), "columns: [{name: id, cast: int64}, v]\n")
	r := verify(t, j, Options{Key: []string{"id"}, Ranges: 55})
	if r.Equal() || r.Of != 55 || len(r.Ranges) != 3 {
		t.Fatalf("%d ranges of %d: %+v", len(r.Ranges), r.Of, r.Ranges)
	}
	first, middle, last := r.Ranges[0], r.Ranges[1], r.Ranges[2]
	if first.From != nil || first.Source.Rows != first.Target.Rows+1 {
		t.Errorf("first: %+v", first)
	}
	if last.To != nil || last.Source.Rows != last.Target.Rows-1 {
		t.Errorf("last: %+v", last)
	}
	var from, to int
	if _, err := fmt.Sscan(middle.From[0]+" "+middle.To[0], &from, &to); err != nil || from > 1000 || to <= 1000 || to-from > 300 {
		t.Errorf("the range of 1000 is from %d to %d, %v", from, to, err)
	}
	if middle.Source.Rows != middle.Target.Rows {
		t.Errorf("middle: %+v", middle)
	}
}

func TestNeighbouringRangesAreJoined(t *testing.T) {
	bounds := []key{{texts: []string{"b"}}, {texts: []string{"c"}}, {texts: []string{"d"}}}
	source, target := newCounts(bounds), newCounts(bounds)
	source.ranges[1].Rows, source.ranges[2].Rows = 2, 3
	got := differing(bounds, source, target)
	if len(got) != 1 || got[0].From[0] != "b" || got[0].To[0] != "d" || got[0].Source.Rows != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestDirtyRecordsAreInNoTarget(t *testing.T) {
	r := verify(t, files(t, "id\n1\nx\n2\n", "id\n1\n2\n", "columns: [{name: id, cast: int32}]\n"), Options{})
	if !r.Equal() || r.Dirty != 1 || r.Source.Rows != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	for name, c := range map[string]struct {
		j    *job.Job
		opts Options
		want string
	}{
		"no such key":    {files(t, "a\n1\n", "a\n1\n", ""), Options{Key: []string{"b"}}, `no column "b"`},
		"missing column": {files(t, "a,b\n1,2\n", "a\n1\n", ""), Options{}, `no column "b"`},
		"no way back":    {parse(t, "name: x\nsource: {stream: }\nsink: {stream: }\n"), Options{}, "cannot be read back"},
	} {
		_, err := Run(t.Context(), c.j, c.opts, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), c.want) || connector.ClassOf(err) != connector.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What PostgreSQL makes of texts is compared by value: padded, normalised and
// reordered forms are no difference, other values are.
func TestComparesWithPostgres(t *testing.T) {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	pg.Exec(t, url, `CREATE TABLE t (id bigint PRIMARY KEY, price numeric(10,2), at timestamptz, doc jsonb, code char(5), note text, raw bytea, ok boolean, f real)`)
	dir := t.TempDir()
	const head = "id,price,at,doc,code,note,raw,ok,f\n"
	var text strings.Builder
	text.WriteString(head)
	for i := range 300 {
		fmt.Fprintf(&text, "%d,%d.5,2024-03-10T02:30:00+02:00,\"{\"\"b\"\": 1e2, \"\"a\"\": [1, 2]}\",ab,,\\x00ff,t,0.1\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	j := parse(t, fmt.Sprintf("name: pg\nsource: {csv: {path: %q}}\nsink: {postgres: {url: %q, table: t}}\n", filepath.Join(dir, "a.csv"), url))
	if _, err := local.New(local.Deps{Registry: connectors.All()}).Run(t.Context(), j, local.Options{StateDir: filepath.Join(dir, "state")}); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, j, Options{}); !r.Equal() || r.Source.Rows != 300 || r.Dirty != 0 {
		t.Fatalf("after the copy: %+v", r)
	}
	for _, change := range []string{
		"UPDATE t SET price = price + 0.01 WHERE id = 150", "UPDATE t SET note = '' WHERE id = 150", "DELETE FROM t WHERE id = 150",
		"UPDATE t SET at = at + interval '1 microsecond' WHERE id = 150", `UPDATE t SET doc = '{"a": [2, 1], "b": 100}' WHERE id = 150`,
	} {
		pg.Exec(t, url, "CREATE TABLE kept AS SELECT * FROM t WHERE id = 150; "+change)
		r := verify(t, j, Options{Ranges: 30})
		if r.Equal() || len(r.Ranges) != 1 || r.Key[0] != "id" {
			t.Errorf("%s: %+v", change, r)
		}
		pg.Exec(t, url, "DELETE FROM t WHERE id = 150; INSERT INTO t SELECT * FROM kept; DROP TABLE kept")
	}
	if r := verify(t, j, Options{}); !r.Equal() {
		t.Errorf("after putting all back: %+v", r)
	}
}
