package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
	"github.com/leatdata/leat/internal/testenv"
)

func none() int64 { return 0 }

// staleCommit has an older attempt write after a newer one has committed, and
// returns what its commit says.
func staleCommit(t *testing.T, rules breakRules) (*rig, error) {
	t.Helper()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	r.breakRules(rules)
	old, state := r.claim(0, 1)
	newer, newerState := r.claim(0, 2)
	check(t, newer.Write(t.Context(), r.batch("1")))
	commit(t, newer, newerState, 1, true, none)
	err := old.Write(t.Context(), r.batch("1"))
	if err == nil {
		err = old.Flush(t.Context())
	}
	if err == nil {
		_, err = old.Commit(t.Context(), state)
	}
	return r, err
}

// Rules 2 and 3: of two attempts only the one with the newer token counts.
func TestStaleAttemptIsFenced(t *testing.T) {
	r, err := staleCommit(t, breakRules{})
	expectClass(t, err, connector.Fenced)
	r.expect("SELECT count(*) FROM t", "1")
}

// The test above sees the fault when the token is left out of the conditions.
func TestStaleAttemptWithoutToken(t *testing.T) {
	r, err := staleCommit(t, breakRules{Rules: database.Rules{IgnoreToken: true}})
	check(t, err)
	r.expect("SELECT count(*) FROM t", "2")
}

// givenUpCommit has a run given up while its writer is between two transactions.
func givenUpCommit(t *testing.T, rules breakRules) (*rig, error) {
	t.Helper()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	r.breakRules(rules)
	w, state := r.claim(0, 1)
	// The row goes between the writer's lock and its update: only the number
	// of rows that the update found can tell.
	ww := w.(*writer)
	ww.Begun = true
	check(t, ww.session.exec(t.Context(), "BEGIN"))
	check(t, w.Write(t.Context(), r.batch("1")))
	r.pg.Exec(t, r.url, "DELETE FROM leat_positions")
	_, err := w.Commit(t.Context(), state)
	return r, err
}

// Rule 3: COMMIT is sent only after "1 row".
func TestCommitNeedsItsRow(t *testing.T) {
	r, err := givenUpCommit(t, breakRules{})
	expectClass(t, err, connector.Fatal, "reset", "--restart")
	r.expect("SELECT count(*) FROM t", "0")
}

// The test above sees the fault when COMMIT is sent anyway.
func TestCommitWithoutItsRow(t *testing.T) {
	r, err := givenUpCommit(t, breakRules{Rules: database.Rules{CommitAnyway: true}})
	check(t, err)
	r.expect("SELECT count(*) FROM t", "1")
}

func reviveFinished(t *testing.T, rules breakRules) error {
	t.Helper()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.load("1")
	r.breakRules(rules)
	w, _, err := r.sink.Claim(t.Context(), r.attempt(0, 5))
	if w != nil {
		check(t, w.Close())
	}
	return err
}

// Rule 2: a claim never revives a finished run.
func TestClaimOfAFinishedRun(t *testing.T) {
	expectClass(t, reviveFinished(t, breakRules{}), connector.Fenced)
}

// The test above sees the fault when claims insert.
func TestClaimByInsert(t *testing.T) {
	check(t, reviveFinished(t, breakRules{Rules: database.Rules{ClaimByInsert: true}}))
}

// Rule 2: a process that was stopped while another went on with a copy of its
// state hears that, and not that the target was reset.
func TestARunThatAnotherProcessFinishes(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	old, _ := r.claim(0, 1)
	late, _ := r.claim(0, 2)
	other := r.newSink(nil)
	must(other.Resolve(t.Context(), r.in))(t)
	w, state, err := other.Claim(t.Context(), r.attempt(0, 3))
	check(t, err)
	check(t, w.Write(t.Context(), r.batch("1")))
	state = commit(t, w, state, 1, true, none)
	check(t, w.Close())
	goesOn := []string{"another process goes on with run " + r.run.ID, "split 0", "--restart"}
	_, _, err = r.sink.Claim(t.Context(), r.attempt(0, 2))
	expectClass(t, err, connector.Fenced, goesOn...)
	expectClass(t, flushed(t, old, r.batch("1")), connector.Fenced, goesOn...)
	check(t, other.Finish(t.Context(), r.run, []connector.SplitState{state}))

	finished := []string{"another process has finished run " + r.run.ID, "old copy", "--restart"}
	expectClass(t, flushed(t, late, r.batch("1")), connector.Fenced, finished...)
	_, err = r.sink.States(t.Context(), r.run)
	expectClass(t, err, connector.Fenced, finished...)
	_, _, err = r.sink.Claim(t.Context(), r.attempt(0, 9))
	expectClass(t, err, connector.Fenced, finished...)
	expectClass(t, r.sink.Register(t.Context(), r.run, splitsOf(2)), connector.Fenced, finished...)
	r.expect("SELECT id FROM t", "1")

	r.pg.Exec(t, r.url, "DELETE FROM leat_runs")
	_, err = r.sink.States(t.Context(), r.run)
	expectClass(t, err, connector.Fatal, "the target was reset", r.run.ID, "--restart")
}

// flushed writes a batch and flushes it.
func flushed(t *testing.T, w connector.Writer, b *batch.Batch) error {
	t.Helper()
	if err := w.Write(t.Context(), b); err != nil {
		return err
	}
	return w.Flush(t.Context())
}

// Rule 2: a writer that stopped in the middle of COPY holds its split's row; a
// newer claim ends it, not before its patience is over, and its rows never count.
func TestClaimEndsAStoppedWriter(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int PRIMARY KEY, v text)", nil, untyped("id", "v")...)
	r.prepare(1)
	old, state := r.claim(0, 1)
	// Large enough that a part of the COPY is on its way.
	check(t, old.Write(t.Context(), r.batch("1|"+strings.Repeat("x", pieceBytes), "2|b")))

	newSink := r.newSink(nil)
	newSink.evictor.Patience = 300 * time.Millisecond
	must(newSink.Resolve(t.Context(), r.in))(t)
	start := time.Now()
	w, _, err := newSink.Claim(t.Context(), r.attempt(0, 2))
	check(t, err)
	if took := time.Since(start); took < newSink.evictor.Patience {
		t.Errorf("the claim took %s", took)
	}
	check(t, w.Write(t.Context(), r.batch("1|new")))
	commit(t, w, connector.SplitState{}, 1, true, none)
	check(t, w.Close())

	err = old.Flush(t.Context())
	if err == nil {
		_, err = old.Commit(t.Context(), state)
	}
	expectClass(t, err, connector.Retryable)
	r.expect("SELECT id, v FROM t", "1|new")
}

// Rule 2: a claim whose reply was lost is found again by its token.
func TestClaimWithALostReply(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	r.pg.Exec(t, r.url, "UPDATE leat_positions SET token = 3")
	_, state := r.claim(0, 3)
	if state.Token != 3 {
		t.Errorf("state: %+v", state)
	}
	_, _, err := r.sink.Claim(t.Context(), r.attempt(0, 2))
	expectClass(t, err, connector.Fenced)
}

// Rule 3: a COMMIT whose answer is lost is either done, and the position says
// so, or not: going on from the claim's position is right both times.
func TestCommitWithALostReply(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	proxy := testenv.NewProxy(t, r.pg.Addr())
	direct := r.url
	r.url = testenv.PostgresURL(proxy.Addr(), direct[strings.LastIndex(direct, "/")+1:strings.Index(direct, "?")])
	through := r.newSink(nil)
	r.url = direct
	must(through.Resolve(t.Context(), r.in))(t)
	w, state, err := through.Claim(t.Context(), r.attempt(0, 1))
	check(t, err)
	check(t, w.Write(t.Context(), r.batch("1")))
	check(t, w.Flush(t.Context()))
	dropped := proxy.DropReplyTo("COMMIT")
	state.Position = "1"
	_, err = w.Commit(t.Context(), state)
	expectClass(t, err, connector.Retryable)
	<-dropped
	check(t, w.Close())
	again, state := r.claim(0, 2)
	if state.Position != "1" || state.Counters.Written != 1 {
		t.Errorf("state: %+v", state)
	}
	check(t, again.Close())
	r.expect("SELECT id FROM t", "1")
}

// Rule 4: a connection that is cut ends the attempt as retryable, and what was
// not committed is gone.
func TestCutConnection(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int, v text)", nil, untyped("id", "v")...)
	r.prepare(1)
	proxy := testenv.NewProxy(t, r.pg.Addr())
	direct := r.url
	r.url = testenv.PostgresURL(proxy.Addr(), direct[strings.LastIndex(direct, "/")+1:strings.Index(direct, "?")])
	through := r.newSink(nil)
	r.url = direct
	must(through.Resolve(t.Context(), r.in))(t)
	for token := uint64(1); token <= 8; token++ {
		w, state, err := through.Claim(t.Context(), r.attempt(0, token))
		check(t, err)
		proxy.CutAfter(testenv.ToServer, int64(token*token*700))
		for err == nil {
			if err = w.Write(t.Context(), r.batch("1|"+strings.Repeat("y", 10000))); err == nil {
				err = w.Flush(t.Context())
			}
		}
		expectClass(t, err, connector.Retryable)
		check(t, w.Close())
		_ = state
	}
	r.expect("SELECT count(*) FROM t", "0")
}

// Rule 1: an open run that our state does not know is refused, unless it is to
// be given up, and then its writers are fenced.
func TestUnknownOpenRun(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	state = commit(t, w, state, 1, false, none)

	other := newRun(2)
	other.Fresh = true
	expectClass(t, r.sink.Prepare(t.Context(), other), connector.Usage, "--restart", r.run.ID)
	other.Restart = true
	expectClass(t, r.sink.Prepare(t.Context(), other), connector.Usage, "--keep-rows", "1 rows")
	other.KeepRows = true
	check(t, r.sink.Prepare(t.Context(), other))
	err := w.Write(t.Context(), r.batch("2"))
	if err == nil {
		_, err = w.Commit(t.Context(), state)
	}
	expectClass(t, err, connector.Fenced, "another process has given up run "+r.run.ID, "--restart")
	expectClass(t, r.sink.Prepare(t.Context(), r.run), connector.Fenced, "another process has given up", "--restart")
	_, err = r.sink.States(t.Context(), r.run)
	expectClass(t, err, connector.Fenced, "another process has given up", "--restart")
	expectClass(t, r.sink.Finish(t.Context(), r.run, nil), connector.Fenced, "another process has given up", "--restart")
	r.expect("SELECT run, outcome FROM leat_runs ORDER BY 1", r.run.ID+"|given up", other.ID+"|NULL")
}

// Rule 1: an unlogged target that a crash has emptied is found out.
func TestResetTarget(t *testing.T) {
	pg := testenv.PostgresWith(t)
	r := &rig{t: t, pg: pg, url: pg.Database(t), run: newRun(1)}
	pg.Exec(t, r.url, "CREATE UNLOGGED TABLE t (id int)")
	r.in = newSchema(untyped("id")...)
	r.sink = r.newSink(nil)
	r.prepare(2)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	commit(t, w, state, 1, true, none)
	check(t, w.Close())
	before := must(r.sink.Identify(t.Context()))(t)
	pg.Restart(t)
	// A replica, or a copy of the server's folder, is perhaps the same place.
	if surely, perhaps := before.Meets(must(r.sink.Identify(t.Context()))(t)); surely || !perhaps {
		t.Errorf("another server of the cluster: surely %t, perhaps %t", surely, perhaps)
	}
	_, err := r.sink.States(t.Context(), r.run)
	expectClass(t, err, connector.Fatal, "reset", "--restart")
	_, _, err = r.sink.Claim(t.Context(), r.attempt(1, 2))
	expectClass(t, err, connector.Fatal, "reset")
	expectClass(t, r.sink.Prepare(t.Context(), r.run), connector.Fatal, "reset")
	expectClass(t, r.sink.Register(t.Context(), r.run, splitsOf(2)), connector.Fatal, "reset")
}

// Rule 7: who holds the lock of a job's preparation for too long is ended.
func TestPrepareEndsWhoHoldsItsLock(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	must(r.sink.Resolve(t.Context(), r.in))(t)
	r.sink.evictor.Patience = 200 * time.Millisecond
	holder, err := connect(t.Context(), r.sink.sessions.config, writerSettings)
	check(t, err)
	defer holder.close()
	check(t, holder.exec(t.Context(), "BEGIN"))
	check(t, r.sink.lockAdvisory(t.Context(), holder, "job hash"))
	check(t, r.sink.Prepare(t.Context(), r.run))
	if err := holder.exec(t.Context(), "COMMIT"); err == nil {
		t.Error("the holder still lives")
	}
}

// Flush heeds its context, though the lock that it waits for stays.
func TestContextEndsAWait(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int PRIMARY KEY)", nil, untyped("id")...)
	r.prepare(1)
	holder, err := connect(t.Context(), r.sink.sessions.config, writerSettings)
	check(t, err)
	defer holder.close()
	check(t, holder.exec(t.Context(), "BEGIN; INSERT INTO t VALUES (1)"))
	w, _ := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	expectClass(t, w.Flush(ctx), connector.Retryable)
	check(t, w.Close())
}
