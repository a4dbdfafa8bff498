package mysql

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

// staleCommit has an older attempt write after a newer one has committed, and
// returns what its commit says.
func staleCommit(t *testing.T, rules breakRules) (*rig, error) {
	t.Helper()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
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
	t.Parallel()
	r, err := staleCommit(t, breakRules{})
	expectClass(t, err, connector.Fenced)
	r.expect("SELECT count(*) FROM t", "1")
}

// The test above sees the fault when the token is left out of the conditions.
func TestStaleAttemptWithoutToken(t *testing.T) {
	t.Parallel()
	r, err := staleCommit(t, breakRules{Rules: database.Rules{IgnoreToken: true}})
	check(t, err)
	r.expect("SELECT count(*) FROM t", "2")
}

// givenUpCommit has the split's row go between a writer's lock and its update:
// only the number of rows that the update found can tell.
func givenUpCommit(t *testing.T, rules breakRules) (*rig, error) {
	t.Helper()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	r.prepare(1)
	r.breakRules(rules)
	w, state := r.claim(0, 1)
	ww := w.(*writer)
	ww.Begun = true
	check(t, ww.session.begin(t.Context()))
	check(t, w.Write(t.Context(), r.batch("1")))
	r.server.Exec(t, r.url, "DELETE FROM leat_positions")
	_, err := w.Commit(t.Context(), state)
	return r, err
}

// Rule 3: COMMIT is sent only after "1 row".
func TestCommitNeedsItsRow(t *testing.T) {
	t.Parallel()
	r, err := givenUpCommit(t, breakRules{})
	expectClass(t, err, connector.Fatal, "reset", "--restart")
	r.expect("SELECT count(*) FROM t", "0")
}

// The test above sees the fault when COMMIT is sent anyway.
func TestCommitWithoutItsRow(t *testing.T) {
	t.Parallel()
	r, err := givenUpCommit(t, breakRules{Rules: database.Rules{CommitAnyway: true}})
	check(t, err)
	r.expect("SELECT count(*) FROM t", "1")
}

// Rule 3: an update that changes nothing has found its row all the same.
func TestCommitOfTheSameState(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	state = commit(t, w, state, 0, false, none)
	l := r.sink.target.ledger
	check(t, r.sink.sessions.with(t.Context(), func(s *session) error {
		for range 2 {
			found, err := l.Advance(t.Context(), s, r.run.ID, state)
			if err != nil || found != 1 {
				t.Errorf("found %d rows, %v", found, err)
			}
		}
		return nil
	}))
}

func reviveFinished(t *testing.T, rules breakRules) error {
	t.Helper()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
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
	t.Parallel()
	expectClass(t, reviveFinished(t, breakRules{}), connector.Fenced)
}

// The test above sees the fault when claims insert.
func TestClaimByInsert(t *testing.T) {
	t.Parallel()
	check(t, reviveFinished(t, breakRules{Rules: database.Rules{ClaimByInsert: true}}))
}

// Rule 2: a process that was stopped while another went on with a copy of its
// state hears that, and not that the target was reset.
func TestARunThatAnotherProcessFinishes(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
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

	r.server.Exec(t, r.url, "DELETE FROM leat_runs")
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

// Rule 2: a writer that stopped in the middle of LOAD DATA holds its split's
// row; a newer claim ends it, not before its patience is over, and its rows
// never count.
func TestClaimEndsAStoppedWriter(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT)", nil, untyped("id", "v")...)
	r.prepare(1)
	old, state := r.claim(0, 1)
	// Large enough that a part of the rows is on its way.
	check(t, old.Write(t.Context(), r.batch("1|"+strings.Repeat("x", pieceBytes), "2|b")))
	if !old.(*writer).chunk.Started {
		t.Fatal("no LOAD DATA is under way")
	}

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

// Rule 2: an older attempt that asks for its split again ends nobody.
func TestStaleClaimEndsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	r.prepare(1)
	r.sink.evictor.Patience = 50 * time.Millisecond
	old, _ := r.claim(0, 1)
	w, state := r.claim(0, 2)
	check(t, w.Write(t.Context(), r.batch("1")))
	expectClass(t, flushed(t, old, r.batch("2")), connector.Fenced)
	_, _, err := r.sink.Claim(t.Context(), r.attempt(0, 1))
	expectClass(t, err, connector.Fenced)
	commit(t, w, state, 1, true, none)
	r.expect("SELECT id FROM t", "1")
}

// Rule 2: a claim whose reply was lost is found again by its token.
func TestClaimWithALostReply(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	r.prepare(1)
	r.server.Exec(t, r.url, "UPDATE leat_positions SET token = 3")
	_, state := r.claim(0, 3)
	if state.Token != 3 {
		t.Errorf("state: %+v", state)
	}
	_, _, err := r.sink.Claim(t.Context(), r.attempt(0, 2))
	expectClass(t, err, connector.Fenced)
}

// throughProxy is a resolved sink of the rig's job behind a proxy.
func (r *rig) throughProxy() (*testenv.Proxy, *Sink) {
	r.t.Helper()
	proxy := testenv.NewProxy(r.t, r.server.Addr())
	direct := r.url
	r.url = strings.Replace(direct, r.server.Addr(), proxy.Addr(), 1) + "?ssl-mode=disabled"
	through := r.newSink(nil)
	r.url = direct
	must(through.Resolve(r.t.Context(), r.in))(r.t)
	return proxy, through
}

// Rule 3: a COMMIT whose answer is lost is either done, and the position says
// so, or not: going on from the claim's position is right both times.
func TestCommitWithALostReply(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	r.prepare(1)
	proxy, through := r.throughProxy()
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
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT, v LONGTEXT)", nil, untyped("id", "v")...)
	r.prepare(1)
	proxy, through := r.throughProxy()
	for token := uint64(1); token <= 8; token++ {
		w, _, err := through.Claim(t.Context(), r.attempt(0, token))
		check(t, err)
		proxy.CutAfter(testenv.ToServer, int64(token*token*1700))
		for err == nil {
			if err = w.Write(t.Context(), r.batch("1|"+strings.Repeat("y", 10000))); err == nil {
				err = w.Flush(t.Context())
			}
		}
		expectClass(t, err, connector.Retryable)
		check(t, w.Close())
	}
	r.expect("SELECT count(*) FROM t", "0")
}

// Rule 1: an open run that our state does not know is refused, unless it is to
// be given up, and then its writers are fenced.
func TestUnknownOpenRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
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

// Rule 1: positions that are gone in an open run mean that the target was reset.
func TestResetTarget(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	r.prepare(2)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	commit(t, w, state, 1, true, none)
	check(t, w.Close())
	r.server.Exec(t, r.url, "DELETE FROM leat_positions WHERE split = 0")
	_, err := r.sink.States(t.Context(), r.run)
	expectClass(t, err, connector.Fatal, "reset", "--restart")
	_, _, err = r.sink.Claim(t.Context(), r.attempt(0, 2))
	expectClass(t, err, connector.Fatal, "reset")
	expectClass(t, r.sink.Prepare(t.Context(), r.run), connector.Fatal, "reset")
	expectClass(t, r.sink.Register(t.Context(), r.run, splitsOf(2)), connector.Fatal, "reset")
	r.server.Exec(t, r.url, "DROP TABLE leat_positions; DROP TABLE t")
	expectClass(t, r.sink.Prepare(t.Context(), r.run), connector.Fatal, "reset")
}

// stopped is a session that holds a lock, with rows behind it, and does nothing more.
func (r *rig) stopped(lock, sql string) *session {
	r.t.Helper()
	s, err := r.sink.sessions.get(r.t.Context())
	check(r.t, err)
	r.t.Cleanup(s.close)
	if got, err := s.tryLock(r.t.Context(), lock, 0); !got {
		r.t.Fatalf("the lock is held: %v", err)
	}
	if sql != "" {
		check(r.t, s.begin(r.t.Context()))
		must(s.exec(r.t.Context(), sql))(r.t)
	}
	return s
}

// Rules 2 and 7: who holds the lock of a job's preparation, or of a run's rows,
// for too long is ended, by whatever else waits for it.
func TestStoppedHoldersAreEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT)", nil, untyped("id")...)
	must(r.sink.Resolve(t.Context(), r.in))(t)
	r.sink.evictor.Patience = 200 * time.Millisecond
	l := r.sink.target.ledger
	holder := r.stopped(lockName("job", l.runs.String(), "hash"), "")
	check(t, r.sink.Prepare(t.Context(), r.run))
	if _, err := holder.one(t.Context(), "SELECT 1"); err == nil {
		t.Error("the holder still lives")
	}
	r.stopped(l.runLock(r.run.ID), "UPDATE leat_runs SET job = 'x'")
	check(t, r.sink.Register(t.Context(), r.run, splitsOf(2)))
	// A writer between its lock and its row.
	r.stopped(l.splitLock(r.run.ID, 0), "")
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	done := []connector.SplitState{commit(t, w, state, 1, true, none)}
	check(t, w.Close())
	// A finishing process.
	r.stopped(l.runLock(r.run.ID), "DELETE FROM leat_positions")
	w, state = r.claim(1, 1)
	done = append(done, commit(t, w, state, 0, true, none))
	check(t, w.Close())
	r.stopped(l.splitLock(r.run.ID, 1), "UPDATE leat_positions SET done = 1")
	check(t, r.sink.Finish(t.Context(), r.run, done))
	r.expect("SELECT outcome FROM leat_runs", database.Finished)
}

// Flush heeds its context, though the lock that it waits for stays.
func TestContextEndsAWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT PRIMARY KEY)", nil, untyped("id")...)
	r.prepare(1)
	holder := r.stopped(lockName("another", r.url), "INSERT INTO t VALUES (1)")
	defer holder.close()
	w, _ := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	expectClass(t, w.Flush(ctx), connector.Retryable)
	check(t, w.Close())
}

// awaitLockWait returns once a transaction waits for a lock on our database's
// rows. The server shows its transactions as they were unless nobody has looked
// for a tenth of a second.
func (r *rig) awaitLockWait() {
	r.t.Helper()
	r.server.Exec(r.t, r.url, `BEGIN NOT ATOMIC WHILE (SELECT COUNT(*) FROM information_schema.innodb_trx
  WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE CONCAT('%', DATABASE(), '%')) = 0 DO DO SLEEP(0.15); END WHILE; END`)
}

// Rule 6: a deadlock has rolled back the transaction, and a lock wait a
// statement: after either the attempt ends, retryable, and nothing stays.
func TestDeadlockEndsTheAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT PRIMARY KEY)", nil, untyped("id")...)
	r.prepare(1)
	w, _ := r.claim(0, 1)
	check(t, flushed(t, w, r.batch("1")))
	other := r.stopped(lockName("another", r.url), "INSERT INTO t VALUES (2), (3), (4), (5)")
	defer other.close()
	check(t, w.Write(t.Context(), r.batch("2")))
	waits := make(chan error, 1)
	go func() { waits <- w.Flush(t.Context()) }()
	r.awaitLockWait()
	_, err := other.exec(t.Context(), "INSERT INTO t VALUES (1)")
	first := <-waits
	if err != nil || first == nil {
		t.Fatalf("ours has fewer rows, and had to be rolled back: %v, %v", first, err)
	}
	expectClass(t, first, connector.Retryable, "Deadlock")
	check(t, w.Close())
	other.rollback(t.Context())
	r.expect("SELECT COUNT(*) FROM t", "0")
}

// Rules 1 to 4: a server that ends amid the rows keeps what was committed, and
// the run goes on from there.
func TestServerThatRestarts(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDBWith(t)
	r := newRigAt(t, server, server.Database(t), "CREATE TABLE t (id INT, v LONGTEXT)", nil, untyped("id", "v")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1|a", "2|b")))
	state.Position = "2"
	commit(t, w, state, 2, false, none)
	check(t, w.Write(t.Context(), r.batch("3|"+strings.Repeat("x", pieceBytes), "4|d")))
	server.Restart(t)
	err := w.Flush(t.Context())
	expectClass(t, err, connector.Retryable)
	check(t, w.Close())

	next := r.newSink(nil)
	must(next.Resolve(t.Context(), r.in))(t)
	check(t, next.Prepare(t.Context(), r.run))
	w, state, err = next.Claim(t.Context(), r.attempt(0, 2))
	check(t, err)
	if state.Position != "2" || state.Counters.Written != 2 {
		t.Errorf("state: %+v", state)
	}
	check(t, w.Write(t.Context(), r.batch("3|c")))
	state = commit(t, w, state, 1, true, none)
	check(t, w.Close())
	check(t, next.Finish(t.Context(), r.run, []connector.SplitState{state}))
	r.expect("SELECT * FROM t ORDER BY id", "1|a", "2|b", "3|c")
}
