package sqlite

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// staleCommit has an older attempt write after a newer one has committed, and
// returns what its commit says.
func staleCommit(t *testing.T, rules breakRules) (file, error) {
	t.Helper()
	f, ctx := newFile(t), t.Context()
	in := fields(t, "id int64")
	s := f.sink(nil, nil)
	run := connector.Run{ID: "r"}
	if _, err := s.Resolve(ctx, in); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(ctx, run); err != nil {
		t.Fatal(err)
	}
	if err := s.Register(ctx, run, []connector.Split{{ID: 0}}); err != nil {
		t.Fatal(err)
	}
	s.ledger.rules = rules
	old, state, err := s.Claim(ctx, connector.Attempt{Run: run, Token: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	newer, newerState, err := s.Claim(ctx, connector.Attempt{Run: run, Token: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	if err := newer.Write(ctx, rowsOf(in, []string{"1"})); err != nil {
		t.Fatal(err)
	}
	newerState.Done = true
	if _, err := newer.Commit(ctx, newerState); err != nil {
		t.Fatal(err)
	}
	if err = old.Write(ctx, rowsOf(in, []string{"1"})); err == nil {
		_, err = old.Commit(ctx, state)
	}
	return f, err
}

// Exactness rules 2 and 3: of two attempts only the one with the newer token counts.
func TestStaleAttemptIsFenced(t *testing.T) {
	f, err := staleCommit(t, breakRules{})
	if connector.ClassOf(err) != connector.Fenced {
		t.Errorf("the older attempt: %v, want fenced", err)
	}
	equal(t, "rows", f.query("SELECT count(*) FROM t"), []string{"1"})
}

// The test above sees the fault when the token is left out of the conditions,
// and when COMMIT is sent whatever the update changed.
func TestStaleAttemptWithBrokenRules(t *testing.T) {
	for _, rules := range []breakRules{{ignoreToken: true}, {commitAnyway: true}} {
		f, err := staleCommit(t, rules)
		if err != nil {
			t.Errorf("%+v: %v", rules, err)
		}
		equal(t, "rows", f.query("SELECT count(*) FROM t"), []string{"2"})
	}
}

// Exactness rule 2: a process that was stopped while another went on with a
// copy of its state hears that, and not that the target was reset.
func TestARunThatAnotherProcessFinishes(t *testing.T) {
	f := newFile(t)
	s, run, state := f.halfway(nil)
	ctx, in := t.Context(), fields(t, "a int64", "b text")
	expect := func(doing string, err error, words ...string) {
		t.Helper()
		if connector.ClassOf(err) != connector.Fenced {
			t.Errorf("%s: %v, want fenced", doing, err)
			return
		}
		for _, word := range append(words, "another process", "old copy", "--restart") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: error %q does not say %q", doing, err, word)
			}
		}
	}
	if err := s.Register(ctx, run, []connector.Split{{ID: 1}}); err != nil {
		t.Fatal(err)
	}
	claim := func(s *Sink, token connector.Token) (connector.Writer, connector.SplitState, error) {
		return s.Claim(ctx, connector.Attempt{Run: run, Split: connector.Split{ID: 1}, Token: token})
	}
	old, _, err := claim(s, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	other := f.sink(nil, nil)
	if _, err := other.Resolve(ctx, in); err != nil {
		t.Fatal(err)
	}
	w, last, err := claim(other, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	last.Done = true
	if last, err = w.Commit(ctx, last); err != nil {
		t.Fatal(err)
	}
	_, _, err = claim(s, 2)
	expect("an older claim", err, "goes on with run r", "split 1")
	expect("an older attempt", old.Write(ctx, rowsOf(in, []string{"9", "x"})), "goes on with run r", "split 1")
	if err := other.Finish(ctx, run, []connector.SplitState{state, last}); err != nil {
		t.Fatal(err)
	}
	const finished = "has finished run r"
	_, err = s.States(ctx, run)
	expect("states", err, finished)
	_, _, err = claim(s, 9)
	expect("claim", err, finished)
	expect("register", s.Register(ctx, run, []connector.Split{{ID: 2}}), finished)
	equal(t, "rows", f.query("SELECT count(*) FROM t"), []string{"3"})
}

// reviveFinished claims a split of a run that has ended.
func reviveFinished(t *testing.T, rules breakRules) error {
	t.Helper()
	f := newFile(t)
	in := fields(t, "id int64")
	s := f.sink(nil, nil)
	if _, _, err := f.load(s, "r", in, rowsOf(in, []string{"1"})); err != nil {
		t.Fatal(err)
	}
	s.ledger.rules = rules
	w, _, err := s.Claim(t.Context(), connector.Attempt{Run: connector.Run{ID: "r"}, Token: 5})
	if w != nil {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	return err
}

// Exactness rule 2: a claim never revives a finished run.
func TestClaimOfAFinishedRun(t *testing.T) {
	if err := reviveFinished(t, breakRules{}); connector.ClassOf(err) != connector.Fenced {
		t.Errorf("claim after the end: %v, want fenced", err)
	}
}

// The test above sees the fault when claims insert.
func TestClaimByInsert(t *testing.T) {
	if err := reviveFinished(t, breakRules{claimByInsert: true}); err != nil {
		t.Errorf("a claim that inserts: %v", err)
	}
}
