package mysql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
	"github.com/leatdata/leat/internal/testenv"
)

// upserting is the options of mode upsert.
func upserting(more map[string]any) map[string]any {
	options := map[string]any{"mode": "upsert"}
	maps.Copy(options, more)
	return options
}

// Rule 8: within a batch the last record of a key wins, by the key's collation,
// and the books balance by what the server counted.
func TestUpsert(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"infile", "insert"} {
		t.Run(load, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "CREATE TABLE t (k VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY, a INT, b INT); INSERT INTO t VALUES ('x', 1, 1), ('y', 2, 2), ('z', 3, 3)",
				upserting(map[string]any{"load": load}), untyped("k", "a", "b")...)
			c := r.load("X|10|"+null, "y|2|2", "n|5|5", "N|6|"+null, "n |7|7", "bad|x|1")
			if c.Written != 3 || c.Merged != 2 || c.Dirty != 1 || !c.Balanced() {
				t.Errorf("counters: %+v, rejected %q", c, r.rejected)
			}
			r.expect("SELECT * FROM t ORDER BY k", "n|7|7", "x|10|NULL", "y|2|2", "z|3|3")
		})
	}
}

// NULL leaves a value where it is told to, also one that came in the same batch.
func TestUpsertKeepsOnNull(t *testing.T) {
	t.Parallel()
	// Names that could be taken for parts of the statement stay names.
	r := newRig(t, "CREATE TABLE t (k INT PRIMARY KEY, `t.` INT, `s.b` INT); INSERT INTO t VALUES (1, 1, 1)", upserting(map[string]any{"nulls": "keep"}), untyped("k", "t.", "s.b")...)
	if c := r.load("1|"+null+"|2", "2|1|"+null, "2|"+null+"|2"); c.Written != 2 || c.Merged != 1 {
		t.Errorf("counters: %+v", c)
	}
	r.expect("SELECT * FROM t ORDER BY k", "1|1|2", "2|1|2")
}

// A table that is all key takes rows that are there as they are.
func TestUpsertOfKeysAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (a INT, b VARCHAR(5), PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, 'x')", upserting(nil), untyped("a", "b")...)
	if c := r.load("1|X", "2|y"); c.Written != 2 || c.Dirty != 0 {
		t.Errorf("counters: %+v, %q", c, r.rejected)
	}
	r.expect("SELECT * FROM t ORDER BY a", "1|x", "2|y")
}

// A row that meets another key's by a second unique index never replaces it.
func TestUpsertNeverTakesAnotherKeysRow(t *testing.T) {
	t.Parallel()
	for key, c := range map[string]struct {
		rows, want []string
		dirty      int64
	}{
		"id": {
			[]string{"1|a|10", "3|c|3", "4|b|4", "1|b|5", "2|a|6"},
			[]string{"1|a|10", "2|b|2", "3|c|3"},
			3,
		},
		"mail": {
			[]string{"1|a|10", "2|c|3", "1|d|4", "9|b|9"},
			[]string{"1|a|10", "9|b|9"},
			2,
		},
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "CREATE TABLE t (id INT PRIMARY KEY, mail VARCHAR(20) NOT NULL UNIQUE, v INT); INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)",
				upserting(map[string]any{"key": key}), untyped("id", "mail", "v")...)
			counters := r.load(c.rows...)
			if counters.Dirty != c.dirty || !counters.Balanced() || !strings.Contains(r.rejected[0], "another key") && !strings.Contains(r.rejected[0], "Duplicate") {
				t.Errorf("counters: %+v, rejected %q", counters, r.rejected)
			}
			r.expect("SELECT * FROM t ORDER BY id", c.want...)
		})
	}
}

// Rule 8: writers that bring the same keys at once may end each other's
// attempts by a deadlock; done again, nothing is lost.
func TestParallelUpsertsOfTheSameKeys(t *testing.T) {
	t.Parallel()
	const writers, keys = 4, 300
	r := newRig(t, "CREATE TABLE t (k INT PRIMARY KEY, v INT)", upserting(nil), untyped("k", "v")...)
	r.prepare(writers)
	states := make([]connector.SplitState, writers)
	errs := make(chan error, writers)
	for split := range writers {
		go func() {
			errs <- func() error {
				pool := new(batch.Pool)
				for token := connector.Token(1); ; token++ {
					a := r.attempt(split, uint64(token))
					w, state, err := r.sink.Claim(t.Context(), a)
					if err != nil {
						return err
					}
					b := pool.Get(r.in)
					for i := range keys {
						b.Append(fmt.Append(nil, (i*7+split*100)%keys))
						b.Append(fmt.Append(nil, split))
					}
					b.Seal()
					err = w.Write(t.Context(), b)
					if err == nil {
						err = w.Flush(t.Context())
					}
					if err == nil {
						state.Done, state.Counters.Read = true, keys
						states[split], err = w.Commit(t.Context(), state)
					}
					_ = w.Close()
					if err == nil || connector.ClassOf(err) != connector.Retryable {
						return err
					}
				}
			}()
		}()
	}
	for range writers {
		check(t, <-errs)
	}
	check(t, r.sink.Finish(t.Context(), r.run, states))
	r.expect("SELECT COUNT(*), MIN(k), MAX(k) FROM t", fmt.Sprintf("%d|0|%d", keys, keys-1))
}

// Modes and tables that do not go together are refused, with what works.
func TestRefusedModes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup   string
		options map[string]any
		words   []string
	}{
		"truncate with a child":   {"CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE c (t INT, FOREIGN KEY (t) REFERENCES t (id))", map[string]any{"mode": "truncate"}, []string{"`c`", "append", "upsert"}},
		"overwrite with a child":  {"CREATE TABLE t (id INT PRIMARY KEY); CREATE TABLE c (t INT, FOREIGN KEY (t) REFERENCES t (id))", map[string]any{"mode": "overwrite"}, []string{"`c`", "append", "upsert"}},
		"overwrite with itself":   {"CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id))", map[string]any{"mode": "overwrite"}, []string{"truncate"}},
		"overwrite of MyISAM":     {"CREATE TABLE t (id INT) ENGINE=MyISAM", map[string]any{"mode": "overwrite"}, []string{"MyISAM", "append"}},
		"upsert without a key":    {"CREATE TABLE t (id INT)", upserting(nil), []string{"no primary key"}},
		"upsert by a prefix":      {"CREATE TABLE t (id VARCHAR(90), UNIQUE (id(5)))", upserting(map[string]any{"key": "id"}), []string{"unique index of whole columns"}},
		"a view":                  {"CREATE TABLE b (id INT); CREATE VIEW t AS SELECT * FROM b", nil, []string{"view"}},
		"a generated column":      {"CREATE TABLE t (x INT, id INT AS (x + 1))", nil, []string{"generated"}},
		"a missing column":        {"CREATE TABLE t (x INT)", nil, []string{"no column id", "it has x"}},
		"no table":                {"", map[string]any{"create": "never"}, []string{"does not exist"}},
		"no database":             {"", map[string]any{"table": "nowhere.t"}, []string{"nowhere"}},
		"positions not in InnoDB": {"CREATE TABLE t (id INT); CREATE TABLE leat_positions (run INT) ENGINE=MyISAM", nil, []string{"InnoDB"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.setup, c.options, untyped("id")...)
			_, err := r.sink.Resolve(t.Context(), r.in)
			expectClass(t, err, connector.Usage, c.words...)
		})
	}
}

// Rule 7: overwrite keeps the table itself, and shows nothing before the end;
// records that the table would refuse are refused at once.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1);
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT, p INT, n INT, g INT AS (n * 2) STORED, FOREIGN KEY (p) REFERENCES p (id)); INSERT INTO t (v) VALUES ('old'), ('older');
CREATE VIEW seen AS SELECT v FROM t; CREATE TABLE log (v TEXT); CREATE TRIGGER noted AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.v)`,
		map[string]any{"mode": "overwrite", "post": "INSERT INTO log VALUES ('post')"}, untyped("id", "v", "p", "n")...)
	plan := r.prepare(1)
	if !slices.ContainsFunc(plan.Doubts, func(d string) bool { return strings.Contains(d, "run twice") }) {
		t.Errorf("doubts: %q", plan.Doubts)
	}
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("0|zero|1|0", "41|newer|"+null+"|41", "41|twice|1|1", "42|child|9|1")))
	state = commit(t, w, state, 4, true, func() int64 { return int64(len(r.rejected)) })
	r.expect("SELECT v FROM seen ORDER BY 1", "old", "older")
	check(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}))
	check(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}))
	r.expect("SELECT id, v, g FROM t ORDER BY 1", "0|zero|0", "41|newer|82")
	r.expect("SELECT v FROM log ORDER BY 1", "newer", "post", "zero")
	r.server.Exec(t, r.url, "INSERT INTO t (v) VALUES ('next')")
	r.expect("SELECT MAX(id) FROM t", "42")
	r.expect("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'leat_staging%'")
	if state.Counters.Written != 2 || len(r.rejected) != 2 {
		t.Errorf("counters: %+v, rejected %q", state.Counters, r.rejected)
	}
}

// Rule 7: a renaming that a crash has come behind is not done again.
func TestFinishAfterTheRenaming(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", map[string]any{"mode": "overwrite"}, field("id", batch.Int32))
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	state = commit(t, w, state, 1, true, none)
	check(t, w.Close())
	r.server.Exec(t, r.url, "UPDATE leat_runs SET outcome = 'renaming'; RENAME TABLE "+r.sink.target.staging(r.run.ID).String()+" TO t")
	again := r.newSink(map[string]any{"mode": "overwrite"})
	must(again.Resolve(t.Context(), r.in))(t)
	check(t, again.Prepare(t.Context(), r.run))
	check(t, again.Finish(t.Context(), r.run, []connector.SplitState{state}))
	r.expect("SELECT id FROM t", "1")
	r.expect("SELECT outcome FROM leat_runs", "finished")
}

// Rule 7: a staging table that was left at a crash behind the run's end goes,
// whether the run is asked for again or another one follows.
func TestStagingTablesDoNotStay(t *testing.T) {
	t.Parallel()
	const left = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'leat_staging%'"
	r := newRig(t, "CREATE TABLE t (id INT)", map[string]any{"mode": "overwrite"}, untyped("id")...)
	for n, outcome := range []string{database.Finished, database.GivenUp} {
		r.run = newRun(n + 1)
		r.prepare(1)
		r.server.Exec(t, r.url, "UPDATE leat_runs SET outcome = '"+outcome+"' WHERE outcome IS NULL")
		if n == 0 {
			if err := r.sink.Prepare(t.Context(), r.run); !errors.Is(err, connector.ErrFinished) {
				t.Errorf("prepare of a finished run: %v", err)
			}
			r.expect(left)
		}
	}
	r.run = newRun(3)
	r.prepare(1)
	r.expect(left, r.sink.target.staging(r.run.ID).table)
	fresh := newRun(4)
	fresh.Fresh, fresh.Restart = true, true
	check(t, r.sink.Prepare(t.Context(), fresh))
	r.expect(left, r.sink.target.staging(fresh.ID).table)
}

// Rule 6: an engine without transactions is at least once, and takes no LOAD
// DATA, whose faults could not be taken back.
func TestEngineWithoutTransactions(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE=MyISAM", nil, untyped("id", "v")...)
	plan := must(r.sink.Resolve(t.Context(), r.in))(t)
	if plan.Guarantee != connector.AtLeastOnce || !slices.ContainsFunc(plan.Doubts, func(d string) bool { return strings.Contains(d, "MyISAM") }) {
		t.Errorf("plan: %+v", plan)
	}
	if c := r.load("1|1", "1|2", "2|2"); c.Written != 2 || c.Dirty != 1 {
		t.Errorf("counters: %+v, rejected %q", c, r.rejected)
	}
	r.expect("SELECT * FROM t", "1|1", "2|2")
}

// Rule 6: without the right to make our tables a job is at least once, says so,
// and keeps off modes that it could not do once.
func TestNoRightToMakeOurTables(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDB(t)
	url := server.Database(t)
	database := url[strings.LastIndex(url, "/")+1:]
	user := "u_" + database
	server.Exec(t, url, "CREATE TABLE t (id INT PRIMARY KEY); CREATE USER "+user+"; GRANT SELECT, INSERT, UPDATE, DELETE ON "+database+".t TO "+user)
	t.Cleanup(func() { server.Exec(t, server.URL(""), "DROP USER "+user) })
	r := newRigAt(t, server, strings.Replace(url, "root@", user+"@", 1), "", nil, untyped("id")...)
	plan := must(r.sink.Resolve(t.Context(), r.in))(t)
	if plan.Guarantee != connector.AtLeastOnce || !slices.ContainsFunc(plan.Doubts, func(d string) bool { return strings.Contains(d, "CREATE command denied") }) {
		t.Errorf("plan: %+v", plan)
	}
	check(t, r.sink.Prepare(t.Context(), r.run))
	check(t, r.sink.Register(t.Context(), r.run, splitsOf(1)))
	if c := r.loadPrepared("1", "1", "2"); c.Written != 2 || c.Dirty != 1 {
		t.Errorf("counters: %+v, rejected %q", c, r.rejected)
	}
	r.expect("SELECT id FROM t", "1", "2")
	_, err := r.newSink(map[string]any{"mode": "truncate"}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "leat_runs", "append")
}

// Upsert goes through a temporary table: that it may be made is looked at before
// anything is done, whether the table is there or the run makes it.
func TestNoRightToMakeTemporaryTables(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDB(t)
	url := server.Database(t)
	base := url[strings.LastIndex(url, "/")+1:]
	user := "u_" + base
	server.Exec(t, url, "CREATE TABLE t (id INT PRIMARY KEY); CREATE USER "+user+"; GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON "+base+".* TO "+user)
	t.Cleanup(func() { server.Exec(t, server.URL(""), "DROP USER "+user) })
	for _, table := range []string{"t", "made"} {
		r := newRigAt(t, server, strings.Replace(url, "root@", user+"@", 1), "", map[string]any{"table": table, "mode": "upsert", "key": "id"}, untyped("id")...)
		_, err := r.sink.Resolve(t.Context(), r.in)
		expectClass(t, err, connector.Usage, "CREATE TEMPORARY TABLES", base, "append")
		server.Exec(t, url, "GRANT CREATE TEMPORARY TABLES ON "+base+".* TO "+user)
		plan := must(r.newSink(map[string]any{"table": table, "mode": "upsert", "key": "id"}).Resolve(t.Context(), r.in))(t)
		if plan.Guarantee != connector.WithPosition {
			t.Errorf("table %s, with the right: %s", table, plan.Guarantee)
		}
		server.Exec(t, url, "REVOKE CREATE TEMPORARY TABLES ON "+base+".* FROM "+user)
	}
}

// A table that the server cannot make is told with its name and the ways out:
// by the number of columns before anything is done, by the row's size then.
func TestTableOfTooManyColumns(t *testing.T) {
	t.Parallel()
	names := make([]string, 1018)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	r := newRig(t, "", nil, untyped(names...)...)
	_, err := r.sink.Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "1018 columns", "1017", "`t`", "by columns")
	for _, mode := range []string{"append", "overwrite"} {
		r := newRig(t, "", map[string]any{"mode": mode}, untyped(names[:450]...)...)
		must(r.sink.Resolve(t.Context(), r.in))(t)
		expectClass(t, r.sink.Prepare(t.Context(), r.run), connector.Usage, "`t`", "450 columns", "8126", "by columns")
	}
}

// Rule 7: pre runs once, AUTO_INCREMENT keeps a zero and moves past what was
// loaded, and truncate empties first.
func TestTruncate(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL); INSERT INTO t (v) VALUES (1)", map[string]any{"mode": "truncate", "pre": "CREATE TABLE once (x INT)"}, untyped("id", "v")...)
	r.prepare(1)
	check(t, r.sink.Prepare(t.Context(), r.run))
	if c := r.loadPrepared("0|1", "100|2", null+"|3", "5|"+null); c.Written != 2 || c.Dirty != 2 {
		t.Errorf("counters: %+v, rejected %q", c, r.rejected)
	}
	r.server.Exec(t, r.url, "INSERT INTO t (v) VALUES (9)")
	r.expect("SELECT * FROM t ORDER BY id", "0|1", "100|2", "101|9")
}

// Where the server does not take LOAD DATA LOCAL rows go by INSERT, which
// validate says; and a row that it does not take at once is dirty.
func TestServerWithoutLocalInfile(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDBWith(t, "local_infile=0", "max_allowed_packet=1M")
	url := server.Database(t)
	const setup = "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT)"
	r := newRigAt(t, server, url, setup, nil, untyped("id", "v")...)
	r.prepare(1)
	lines := must(r.sink.Describe(t.Context()))(t)
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "INSERT") && strings.Contains(l, "local_infile") }) {
		t.Errorf("described as %q", lines)
	}
	c := r.loadPrepared("1|a", "2|"+strings.Repeat("x", 1<<20), "1|again", "3|"+strings.Repeat("'", 1<<19), "4|"+strings.Repeat("y", 1_000_000))
	if c.Written != 2 || c.Dirty != 3 {
		t.Errorf("counters: %+v", c)
	}
	for _, i := range []int{0, 1} {
		if i < len(r.rejected) && !strings.Contains(r.rejected[i], "max_allowed_packet is 1048576") && !strings.Contains(r.rejected[i], "Duplicate") {
			t.Errorf("rejected: %.200q", r.rejected[i])
		}
	}
	r.expect("SELECT id, LENGTH(v) FROM t ORDER BY id", "1|1", "4|1000000")
	_, err := r.newSink(map[string]any{"load": "infile"}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "local_infile")

	// A server that says no only when it is asked.
	server.Exec(t, url, "SET GLOBAL local_infile = 1; DROP TABLE t; "+setup)
	r = newRigAt(t, server, url, "", map[string]any{"runs_table": "r2", "positions_table": "p2"}, untyped("id", "v")...)
	r.prepare(1)
	server.Exec(t, url, "SET GLOBAL local_infile = 0")
	if c := r.loadPrepared("1|a", "2|"+strings.Repeat("x", 1<<20), "3|"+strings.Repeat("x", 300_000)); c.Written != 2 || c.Dirty != 1 {
		t.Errorf("counters: %+v", c)
	}
}

// A server that could not take our transactions is found out before anything is made.
func TestServerWithStatementsInItsLog(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDBWith(t, "log_bin=bin", "binlog_format=STATEMENT")
	r := newRigAt(t, server, server.Database(t), "", nil, untyped("id")...)
	_, err := r.sink.Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "binlog_format", "MIXED")
}

// Whatever the length, a record about as large as the server takes at once is
// written or dirty, and never ends the job.
func TestRowsOfAboutThePacket(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDBWith(t, "local_infile=0", "max_allowed_packet=1M")
	url := server.Database(t)
	for _, mode := range []string{"append", "upsert"} {
		r := newRigAt(t, server, url, "DROP TABLE IF EXISTS t; CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT)",
			map[string]any{"mode": mode, "runs_table": "r_" + mode, "positions_table": "p_" + mode}, untyped("id", "v")...)
		r.prepare(1)
		var rows []string
		for i := range 130 {
			rows = append(rows, fmt.Sprintf("%d|%s", i, strings.Repeat("x", 1<<20-120+i)))
		}
		c := r.loadPrepared(rows...)
		if c.Written == 0 || c.Dirty == 0 || c.Written+c.Dirty != int64(len(rows)) {
			t.Errorf("%s: counters: %+v", mode, c)
		}
		for _, rejected := range r.rejected {
			if !strings.Contains(rejected, "max_allowed_packet is 1048576") {
				t.Errorf("%s: rejected: %.200q", mode, rejected)
			}
		}
		// None was given up that would have passed.
		r.expect("SELECT COUNT(*), MAX(id) FROM t", fmt.Sprintf("%d|%d", c.Written, c.Written-1))
	}
}

// LOAD DATA takes a row only up to max_allowed_packet either.
func TestLargestRow(t *testing.T) {
	t.Parallel()
	server := testenv.MariaDBWith(t, "max_allowed_packet=1M")
	r := newRigAt(t, server, server.Database(t), "CREATE TABLE t (id INT, v LONGTEXT, w LONGBLOB)", nil, field("id", batch.Untyped), field("v", batch.Untyped), field("w", batch.Untyped))
	c := r.load("1|"+strings.Repeat("x", 1<<20-10)+"|", "2|"+strings.Repeat("x", 1<<20)+"|", "3|"+strings.Repeat("a\t", 1<<18)+"|"+strings.Repeat("\x00", 1<<18))
	if c.Written != 2 || c.Dirty != 1 || !strings.Contains(r.rejected[0], "max_allowed_packet is 1048576") {
		t.Errorf("counters: %+v, rejected %.200q", c, r.rejected)
	}
	r.expect("SELECT id, LENGTH(v), LENGTH(w) FROM t ORDER BY id", "1|1048566|0", "3|524288|262144")
}
