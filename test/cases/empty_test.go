package cases

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/verify"
	"github.com/leatdata/leat/job"
)

// verifies compares the ends of a job and expects both to hold the same n records.
func (s *scene) verifies(n int64, text string) {
	s.t.Helper()
	j, err := job.Parse([]byte(s.fill(text)), "job.yaml", job.Vars{}, connectors.All())
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := verify.Run(s.t.Context(), j, verify.Options{}, slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	if !r.Equal() || r.Source.Rows != n {
		s.t.Errorf("verify: %+v", r)
	}
}

// An empty table's copy in JSON lines is an empty file, which keeps no columns:
// it is copied back all the same, and is like the table.
func TestEmptyTableThroughJSONLines(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE a (id int PRIMARY KEY, doc jsonb NOT NULL); CREATE TABLE b (LIKE a INCLUDING ALL); INSERT INTO b VALUES (1, '{}')")
	out := "name: out\nsource: {postgres: {url: {pg}, table: a}}\nsink: {jsonl: {path: {dir}/a.jsonl}}\n"
	s.copied(0, out)
	s.verifies(0, out)
	if got := s.text("a.jsonl"); got != "" {
		t.Errorf("the file holds %q", got)
	}
	appended := "name: append\nsource: {jsonl: {path: {dir}/a.jsonl}}\nsink: {postgres: {url: {pg}, table: b, mode: append}}\n"
	s.copied(0, appended)
	s.expect("SELECT id, doc FROM b", "1|{}")
	for _, mode := range []string{"overwrite", "truncate"} {
		s.exec("INSERT INTO b VALUES (2, '{}') ON CONFLICT DO NOTHING")
		back := "name: " + mode + "\nsource: {jsonl: {path: {dir}/a.jsonl}}\nsink: {postgres: {url: {pg}, table: b, mode: " + mode + "}}\n"
		s.copied(0, back)
		s.expect("SELECT count(*) FROM b", "0")
		s.verifies(0, back)
	}
	chosen := "name: chosen\nsource: {jsonl: {path: {dir}/a.jsonl}}\nsink: {postgres: {url: {pg}, table: b}}\ncolumns: [id, {name: doc, value: \"{}\"}]\n"
	s.copied(0, chosen)

	s.write("blank.jsonl", "\n\n")
	lines := "name: lines\nsource: {jsonl: {path: {dir}/blank.jsonl}}\nsink: {jsonl: {path: {dir}/b.jsonl}}\n"
	s.copied(0, lines)
	s.verifies(0, lines)

	_, err := s.run("name: none\nsource: {jsonl: {path: {dir}/a.jsonl}}\nsink: {postgres: {url: {pg}, table: c, create: auto}}\n")
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "option columns") {
		t.Errorf("without any columns: %v", err)
	}
}
