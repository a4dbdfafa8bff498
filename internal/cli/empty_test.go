package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// A csv file without a byte has no records. The columns are the target's; with
// none there, the ways out are told.
func TestAFileWithoutAByte(t *testing.T) {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	pg.Exec(t, url, "CREATE TABLE people (id int, name text, town text); INSERT INTO people VALUES (1, 'Ann', 'Oslo')")
	leat := testenv.Leat(t)
	s := newShell(t)
	s.write("empty.csv", "")
	s.write("people.csv", people)
	into := func(mode string) string {
		s.write("job.yaml", fmt.Sprintf("name: %s\nsource: {csv: {path: empty.csv}}\nsink: {postgres: {url: %q, table: people, mode: %s}}\n", mode, url, mode))
		return "job.yaml"
	}
	s.contains(s.want(0, "validate", into("append")).out, "town")
	s.contains(s.want(0, "run", into("append")).err, "0 read, 0 written", "no record and no header")
	if rows := pg.Rows(t, url, "SELECT name FROM people"); len(rows) != 1 {
		t.Errorf("the target has %q", rows)
	}
	s.want(0, "run", into("overwrite"))
	if rows := pg.Rows(t, url, "SELECT name FROM people"); len(rows) != 0 {
		t.Errorf("the target has %q, which an empty source replaces", rows)
	}
	s.contains(s.want(0, "verify", into("append")).out, "both hold the same records")
	// The columns that the job names, some of another name in the target.
	s.write("job.yaml", fmt.Sprintf("source: {csv: {path: empty.csv}}\nsink: {postgres: {url: %q, table: people}}\ncolumns: [id, {name: name, from: nom}]\n", url))
	s.want(0, "run", "job.yaml")

	for _, args := range [][]string{
		{"copy", "empty.csv", "new.db"},
		{"copy", "empty.csv", "new.jsonl"},
		{"copy", "empty.csv", url + "&table=missing"},
	} {
		s.contains(s.want(2, args...).err, "empty.csv holds no record", "make the target first", "option names")
	}
	s.want(0, "copy", "empty.csv", "none.csv")
	if got := s.read("none.csv"); got != "" {
		t.Errorf("a csv file of nothing holds %q", got)
	}
	s.want(0, "copy", "none.csv", "again.csv")
	p, exit := testenv.RunProcess(t, testenv.Command{
		Path: leat, Args: []string{"copy", "-", url + "&table=people"}, Stdin: strings.NewReader(""),
	})
	if exit.Code != 0 {
		t.Errorf("of an empty standard input: %+v\n%s", exit, p.Stderr())
	}
	// Among others an empty file says nothing.
	if err := os.Mkdir("many", 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("many/a.csv", "")
	s.write("many/b.csv", people)
	s.want(0, "copy", "many/", "all.csv")
	if got := s.read("all.csv"); got != people {
		t.Errorf("got %q", got)
	}
}
