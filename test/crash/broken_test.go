package crash

import (
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// brokenRule is a rule of exactness, and a scene that comes out wrong without it.
type brokenRule struct {
	name  string
	setUp func(t *testing.T) scene
	// play brings the scene's job to its end; broken is "" when all rules are kept.
	play func(t *testing.T, s scene, broken string)
	// loses says that rows are lost without the rule; else they are doubled.
	loses bool
}

// TestBrokenRules shows that the comparison of these tests can fail: each scene
// is exact, and with a single rule broken it loses or doubles rows.
func TestBrokenRules(t *testing.T) {
	t.Parallel()
	for _, b := range brokenRules(newSources(t)) {
		t.Run(b.name+"/kept", func(t *testing.T) {
			t.Parallel()
			s := b.setUp(t)
			b.play(t, s, "")
			check(t, s)
		})
		t.Run(b.name+"/broken", func(t *testing.T) {
			t.Parallel()
			s := b.setUp(t)
			rule, _, _ := strings.Cut(b.name, "/")
			b.play(t, s, rule)
			d := compare(s)
			t.Logf("%d rows are lost, %d doubled", len(d.lost), len(d.doubled))
			if found := len(d.doubled); b.loses && len(d.lost) == 0 || !b.loses && found == 0 {
				t.Error("the comparison does not see it")
			}
		})
	}
}

func brokenRules(from *sources) []brokenRule {
	postgres := func(t *testing.T) scene { return inOne(csvToPostgres(t, from, "append")) }
	sqlite := func(t *testing.T) scene { return inOne(csvToSQLite(t, from)) }
	mysql := func(t *testing.T) scene { return inOne(csvToMySQL(t, from, "append")) }
	folder := func(t *testing.T) scene { return csvToCSV(t, from, "out/") }
	parquetFolder := func(t *testing.T) scene { return csvToParquet(t, from, "out/") }
	return []brokenRule{
		// Rule 2: claiming never inserts, and the claim's position counts.
		{name: "claim-by-insert/postgres", setUp: postgres, play: wakeBehindTheEnd("before-claim:0")},
		{name: "claim-by-insert/sqlite", setUp: sqlite, play: wakeBehindTheEnd("before-claim:0")},
		{name: "claim-by-insert/mysql", setUp: mysql, play: wakeBehindTheEnd("before-claim:0")},
		{name: "ignore-position/postgres", setUp: postgres, play: loseReplyToCommit},
		{name: "ignore-position/mysql", setUp: mysql, play: loseReplyToCommit},
		// Rule 3: the row is found by the token, COMMIT needs it, and it is
		// moved in the transaction of the rows.
		{name: "commit-anyway/postgres", setUp: postgres, play: wakeBehindTheEnd("after-claim:0")},
		{name: "commit-anyway/sqlite", setUp: sqlite, play: wakeBehindTheEnd("after-claim:0")},
		{name: "commit-anyway/mysql", setUp: mysql, play: wakeBehindTheEnd("after-claim:0")},
		{name: "ignore-token/mysql", setUp: mysql, play: wakeBesideNewer},
		{name: "ignore-token/postgres", setUp: postgres, play: wakeBesideNewer},
		{name: "ignore-token/sqlite", setUp: sqlite, play: wakeBesideNewer},
		{name: "position-first/mysql", setUp: mysql, play: killAt("before-commit:0"), loses: true},
		{name: "position-last/mysql", setUp: mysql, play: killAt("before-commit:0")},
		{name: "position-first/postgres", setUp: postgres, play: killAt("before-commit:0"), loses: true},
		{name: "position-last/postgres", setUp: postgres, play: killAt("before-commit:0")},
		{name: "position-last/sqlite", setUp: sqlite, play: killAt("before-commit:0")},
		// Tokens: each start of a job raises its epoch.
		{name: "same-epoch/postgres", setUp: postgres, play: wakeBesideNewer},
		{name: "same-epoch/sqlite", setUp: sqlite, play: wakeBesideNewer},
		// Rule 9: recorded segments alone count, and what is to be renamed is
		// written down before.
		{name: "count-unrecorded", setUp: folder, play: killAt("after-commit:1")},
		{name: "no-manifest", setUp: folder, play: killAt("after-rename:0"), loses: true},
		{name: "count-unrecorded/parquet", setUp: parquetFolder, play: killAt("after-commit:1")},
		{name: "no-manifest/parquet", setUp: parquetFolder, play: killAt("after-rename:0"), loses: true},
		// Rule 12: the end has to be proved.
		{name: "unproved-end/postgres", setUp: func(t *testing.T) scene { return inOne(postgresToCSV(t, from)) }, play: endTheReadersConnection, loses: true},
		{name: "unproved-end/mysql", setUp: func(t *testing.T) scene { return inOne(mysqlToCSV(t, from)) }, play: endTheReadersConnection, loses: true},
	}
}

// inOne has a scene's source be read as one split, by one writer.
func inOne(s scene) scene {
	s.job = strings.NewReplacer("split_size: 40KiB", "split_size: 64MiB", "split_rows: 900", "split_rows: 1000000", "parallelism: 2", "parallelism: 1", "attempts: 20", "attempts: 5").Replace(s.job)
	return s
}

// killAt kills the job at a point and goes on with it.
func killAt(point string) func(t *testing.T, s scene, broken string) {
	return func(t *testing.T, s scene, broken string) {
		t.Helper()
		r := newRunner(t, s)
		if _, exit := testenv.RunProcess(t, r.command(point+":kill", broken)); exit.Signal != syscall.SIGKILL {
			t.Fatalf("it was not killed: %+v", exit)
		}
		end(t, testenv.StartProcess(t, r.command("", broken)), broken)
	}
}

// wakeBehindTheEnd stops a process at a point, has a newer one bring the job to
// its end, and wakes the first.
func wakeBehindTheEnd(point string) func(t *testing.T, s scene, broken string) {
	return func(t *testing.T, s scene, broken string) {
		t.Helper()
		r := newRunner(t, s)
		old := testenv.StartProcess(t, r.command(point+":stop", broken))
		awaitStopped(t, old)
		r.copied(t).run(t)
		old.Thaw(t)
		endFenced(t, old, broken)
	}
}

// wakeBesideNewer stops a process that has claimed its split, has a newer one
// commit some of it, wakes the first, and then lets the newer one go on.
func wakeBesideNewer(t *testing.T, s scene, broken string) {
	t.Helper()
	r := newRunner(t, s)
	old := testenv.StartProcess(t, r.command("after-claim:0:stop", broken))
	awaitStopped(t, old)
	newer := testenv.StartProcess(t, r.copied(t).command("after-commit:0:stop", broken))
	awaitStopped(t, newer)
	old.Thaw(t)
	endFenced(t, old, broken)
	newer.Thaw(t)
	end(t, newer, broken)
}

// loseReplyToCommit lets the server commit the first rows, and cuts the
// connection before the writer learns of it.
func loseReplyToCommit(t *testing.T, s scene, broken string) {
	t.Helper()
	addr := testenv.Postgres(t).Addr()
	if strings.Contains(s.job, "mysql:") {
		addr = testenv.MariaDB(t).Addr()
	}
	proxy := testenv.NewProxy(t, addr)
	s.job = strings.ReplaceAll(s.job, addr, proxy.Addr())
	p := testenv.StartProcess(t, newRunner(t, s).command("before-commit:0:stop", broken))
	awaitStopped(t, p)
	dropped := proxy.DropReplyTo("COMMIT")
	p.Thaw(t)
	end(t, p, broken)
	<-dropped
}

// endTheReadersConnection ends it in an orderly way amid the rows.
func endTheReadersConnection(t *testing.T, s scene, broken string) {
	t.Helper()
	addr := testenv.Postgres(t).Addr()
	if maria := testenv.MariaDB(t).Addr(); strings.Contains(s.job, maria) {
		addr = maria
	}
	proxy := testenv.NewProxy(t, addr)
	proxy.Style(testenv.Finish)
	s.job = strings.ReplaceAll(s.job, addr, proxy.Addr())
	cut := proxy.CutAfter(testenv.ToClient, 90<<10)
	end(t, testenv.StartProcess(t, newRunner(t, s).command("", broken)), broken)
	<-cut
}

// end waits for a process, which ends well when the rules are kept.
func end(t *testing.T, p *testenv.Process, broken string) {
	t.Helper()
	if exit := p.Wait(t); broken == "" && exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
}

// endFenced waits for a process, which fails when the rules are kept: the
// split is not its own any more.
func endFenced(t *testing.T, p *testenv.Process, broken string) {
	t.Helper()
	if exit := p.Wait(t); broken == "" && (exit.Code != 1 || !strings.Contains(p.Stderr(), "another process") || strings.Contains(p.Stderr(), "was reset") || strings.Contains(p.Stderr(), "once the cause is gone")) {
		t.Fatalf("the older process was not fenced, or does not say so: exit code %d\n%s", exit.Code, p.Stderr())
	}
}
