package cases

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// hugeBytes is the size of one value, more than any queue or batch holds.
const hugeBytes = 100 << 20

// mostHugeMemory bounds the process that passes such values on, one behind the
// other: a handful of copies of one (as it is read, as digits, as it is sent),
// and what the collector of garbage lets stand.
const mostHugeMemory = 11 * hugeBytes

// mostWideMemory is the bound for records of many columns that are NULL: a cell
// that is not there takes eight bytes in memory, and less than that anywhere else.
const mostWideMemory = 200 << 20

// hugeScene has a table of one row of 100 MiB text and 100 MiB bytes among
// small ones.
func hugeScene(t *testing.T) *scene {
	t.Helper()
	s := newPostgres(t, "CREATE TABLE source (n int PRIMARY KEY, v text, b bytea); ALTER TABLE source ALTER v SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL; CREATE UNLOGGED TABLE target (LIKE source INCLUDING STORAGE)")
	s.exec(fmt.Sprintf("INSERT INTO source VALUES (1, 'small', '\\x01'), (2, repeat('0123456789abcdef', %d), 'x'), (3, 'y', convert_to(repeat('0123456789abcde,', %d), 'UTF8')), (4, 'last', NULL)", hugeBytes/16, hugeBytes/16))
	return s
}

const hugeLook = "SELECT n, length(v), md5(v), length(b), md5(b) FROM %s ORDER BY n"

// runWithin runs a job with the binary and holds its memory to a bound.
func (s *scene) runWithin(most int64, text string) {
	s.t.Helper()
	s.write("job.yaml", s.fill(text))
	p, exit := testenv.RunProcess(s.t, testenv.Command{Path: binary(s.t), Memory: true, Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}})
	if exit.Code != 0 {
		s.t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
	s.t.Logf("peak %d MiB", exit.MaxRSS>>20)
	if exit.MaxRSS > most {
		s.t.Errorf("peak %d MiB of memory, at most %d are allowed", exit.MaxRSS>>20, most>>20)
	}
}

// TestMemoryOfAHugeValue passes text and bytes of 100 MiB from PostgreSQL to
// PostgreSQL, and to a file and back. Like all that measures it runs without
// the race detector.
func TestMemoryOfAHugeValue(t *testing.T) {
	s := hugeScene(t)
	want := s.rows(fmt.Sprintf(hugeLook, "source"))
	for _, w := range ways()[:2] {
		for i, j := range w.jobs {
			t.Run(fmt.Sprintf("%s %d", w.name, i), func(t *testing.T) { s.in(t).runWithin(mostHugeMemory, j) })
		}
		s.expect(fmt.Sprintf(hugeLook, "target"), want...)
	}
}

// TestMemoryOfAHugeLine passes a field of 100 MiB with line ends in it from a
// file to SQLite.
func TestMemoryOfAHugeLine(t *testing.T) {
	s := newScene(t)
	f, err := os.Create(s.path("in.csv"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	line := strings.Repeat("0123456789abcd\n,", 64)
	_, _ = w.WriteString("a,b\n1,\"")
	for range hugeBytes / len(line) {
		_, _ = w.WriteString(line)
	}
	_, _ = w.WriteString("\"\n2,x\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.runWithin(mostHugeMemory, "source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {sqlite: {path: \"{dir}/o.db\", table: t}}\n")
	s.liteExpect("o.db", "SELECT a, length(b) FROM t ORDER BY a", fmt.Sprintf("1|%d", hugeBytes), "2|1")
}

// TestMemoryOfWideRecords copies records of 1,500 columns, hardly any of which
// is there: their number in a batch is bounded too.
func TestMemoryOfWideRecords(t *testing.T) {
	s := newPostgres(t, "")
	var head, first strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&head, "c%d,", i)
		fmt.Fprintf(&first, `"c%d":%d,`, i, i)
	}
	s.write("wide.csv", head.String()+"z\n"+strings.Repeat(strings.Repeat(",", 1500)+"1\n", 8000))
	s.write("wide.jsonl", "{"+first.String()+"\"z\":0}\n"+strings.Repeat("{}\n", 60000))
	s.runWithin(mostWideMemory, "source: {csv: {path: \"{dir}/wide.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\n")
	s.expect("SELECT count(*), count(c0), sum(z) FROM t", "8000|0|8000")
	s.runWithin(mostWideMemory, "source: {jsonl: {path: \"{dir}/wide.jsonl\"}}\nsink: {stream: {}}\n")
}
