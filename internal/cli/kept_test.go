package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// A run that failed before it read or committed anything is kept, and says so
// with the ways out, for without them a corrected job is refused.
func TestAFailedRunSaysThatItIsKept(t *testing.T) {
	url := testenv.Postgres(t).Database(t)
	s := newShell(t)
	job := func(query string) string {
		return fmt.Sprintf("name: b\nsource: {postgres: {url: %q, query: %q}}\nsink: {csv: {path: b.csv}}\n", url, query)
	}
	const kept = "the state is kept in .leat/b; begin anew with --restart, or, once the cause is gone, go on with: leat run b.yaml"
	s.write("b.yaml", job("select 1/0 as a"))
	s.contains(s.want(1, "run", "b.yaml").err, "division by zero", kept)
	s.contains(s.want(1, "run", "b.yaml").err, "going on with the unfinished run", kept)
	s.write("b.yaml", job("select 2 as a"))
	r := s.want(2, "run", "b.yaml")
	s.contains(r.err, "copied something else", "--restart")
	if strings.Contains(r.err, "state is kept") {
		t.Errorf("what is refused is said to be gone on with:\n%s", r.err)
	}
	s.want(0, "run", "b.yaml", "--restart")
	if got := s.read("b.csv"); got != "a\n2\n" {
		t.Errorf("got %q", got)
	}
}

// A run that never came to its target holds no changed job up.
func TestAChangedJobThatNeverBeganBeginsAnew(t *testing.T) {
	s := newShell(t)
	s.write("a.csv", "a\n1\n")
	s.write("b.yaml", "name: b\nsource: {csv: {path: a.csv}}\nsink: {postgres: {url: \"postgres://u@127.0.0.1:1/d\", table: t}}\n")
	s.contains(s.want(1, "run", "b.yaml").err, "the state is kept in .leat/b; begin anew with --restart")
	s.write("b.yaml", "name: b\nsource: {csv: {path: a.csv}}\nsink: {csv: {path: b.csv}}\n")
	r := s.want(0, "run", "b.yaml")
	if got := s.read("b.csv"); got != "a\n1\n" || strings.Contains(r.err, "going on") {
		t.Errorf("got %q\n%s", got, r.err)
	}
	// What the job itself is wrong in leaves no run behind.
	s.write("c.yaml", "name: c\nsource: {csv: {path: none.csv}}\nsink: {csv: {path: c.csv}}\n")
	if r := s.leat("run", "c.yaml"); r.code == 0 || strings.Contains(r.err, "state is kept") {
		t.Errorf("exit code %d\n%s", r.code, r.err)
	}
}
