package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// toTarget copies a table or query in many splits into the table "target",
// which is made.
func (s *scene) toTarget(n int64, source, rest string) {
	s.t.Helper()
	s.exec("DROP TABLE IF EXISTS target")
	s.copied(n, fmt.Sprintf("source: {postgres: {url: {pg}, %s}}\nsink: {postgres: {url: {pg}, table: target}}\n%s", source, rest))
}

// same compares a query on the target with one on the source, in any order.
func (s *scene) same(source, target string) {
	s.t.Helper()
	want, got := s.rows(source), s.rows(target)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("%d rows differ from %d: got %.300q, want %.300q", len(got), len(want), got, want)
	}
}

// Each row is read once, whatever the key of the splits.
func TestEachRowOnceWhateverTheKey(t *testing.T) {
	s := newPostgres(t, `CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
	for i, c := range []struct{ name, table, source string }{
		{"texts beyond ASCII, where case makes no difference", `(k text COLLATE nocase PRIMARY KEY, v int); INSERT INTO %s SELECT k, 0 FROM unnest(ARRAY['a','B','é','中','','O''x','\','Ž']) k`, "split_rows: 1"},
		{"texts beyond ASCII, in the order of a language", `(k text COLLATE "und-x-icu" PRIMARY KEY, v int); INSERT INTO %s SELECT k, 0 FROM unnest(ARRAY['a','B','b','é','中','','A','É']) k`, "split_rows: 1"},
		{"texts beyond ASCII, in the order of bytes", `(k text COLLATE "C" PRIMARY KEY, v int); INSERT INTO %s SELECT k, 0 FROM unnest(ARRAY['a','B','b','é','中','','A','É']) k`, "split_rows: 1"},
		{"ids to 5 000 000 000", "(k bigint PRIMARY KEY, v int); INSERT INTO %s SELECT 1 + i * 4999999::bigint, i FROM generate_series(0, 1000) i", "split_rows: 90"},
		{"the whole range of bigint", "(k bigint PRIMARY KEY, v int); INSERT INTO %s SELECT -9223372036854775808, 0 UNION ALL SELECT 9223372036854775807, 1 UNION ALL SELECT i, 2 FROM generate_series(-50, 50) i", "split_rows: 7"},
		{"NULL keys", "(k int UNIQUE, v int); INSERT INTO %s VALUES (1, 1), (NULL, 2), (2, 3)", "key: k, split_rows: 1"},
		{"many NULL keys of two columns", "(k int, l int, v int, UNIQUE (k, l)); INSERT INTO %s SELECT NULLIF(i %% 7, 0), NULLIF(i %% 5, 0), i FROM generate_series(1, 35) i", "key: 'k,l', split_rows: 4"},
		{"two columns", "(k int, l text, v int, PRIMARY KEY (k, l)); INSERT INTO %s SELECT i / 10, 'é' || i %% 10, i FROM generate_series(1, 300) i", "split_rows: 17"},
		{"11 rows over 10 readers", "(k int PRIMARY KEY, v int); INSERT INTO %s SELECT i, i FROM generate_series(1, 11) i", "split_rows: 1"},
		{"moments", "(k timestamptz PRIMARY KEY, v int); INSERT INTO %s SELECT '2024-03-10 00:00-08'::timestamptz + i * interval '7 min', i FROM generate_series(1, 300) i", "split_rows: 19"},
		{"wall times, as a key named", "(k timestamp, v int); INSERT INTO %s SELECT '2024-03-10'::timestamp + (i / 3) * interval '7 min', i FROM generate_series(1, 300) i", "key: k, split_rows: 19"},
		{"no key", "(v int, w text); INSERT INTO %s SELECT i, repeat('x', 200) FROM generate_series(1, 3000) i", "split_size: 64KiB"},
		{"a key not in order of the rows", "(k uuid PRIMARY KEY, v int); INSERT INTO %s SELECT md5(i::text)::uuid, i FROM generate_series(1, 2000) i", "split_rows: 150"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.in(t)
			table := fmt.Sprintf("t%d", i)
			s.exec("CREATE TABLE " + table + " " + fmt.Sprintf(c.table, table) + "; ANALYZE " + table)
			n := testenv.Value[int64](t, s.url, "SELECT count(*) FROM "+table)
			s.toTarget(n, "table: "+table+", "+c.source, "parallelism: 10\n")
			s.same("SELECT t::text FROM "+table+" t", "SELECT t::text FROM target t")
		})
	}
}

func TestWhatIsReadInSplits(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE t (id int PRIMARY KEY, a int, b int, c text); INSERT INTO t SELECT i, i % 3, i % 5, 'c' || i FROM generate_series(1, 1000) i`)
	t.Run("a query is read once, not once a split", func(t *testing.T) {
		s := s.in(t)
		s.toTarget(1000, "query: 'SELECT id, a FROM t'", "parallelism: 4\n")
		s.same("SELECT id, a FROM t", "SELECT id, a FROM target")
	})
	t.Run("a query in splits of a key", func(t *testing.T) {
		s := s.in(t)
		s.toTarget(1000, "query: 'SELECT id, a FROM t', key: id, split_rows: 90", "parallelism: 4\n")
		s.same("SELECT id, a FROM t", "SELECT id, a FROM target")
	})
	t.Run("an or in where stays within its brackets", func(t *testing.T) {
		s := s.in(t)
		n := testenv.Value[int64](t, s.url, "SELECT count(*) FROM t WHERE a = 1 OR b = 2")
		s.toTarget(n, "table: t, split_rows: 90", "where: a = 1 or b = 2\nparallelism: 4\n")
		s.same("SELECT * FROM t WHERE a = 1 OR b = 2", "SELECT * FROM target")
	})
	t.Run("and so does a comment at its end", func(t *testing.T) {
		s := s.in(t)
		n := testenv.Value[int64](t, s.url, "SELECT count(*) FROM t WHERE a = 1 OR b = 2")
		s.toTarget(n, "table: t, split_rows: 90", "where: \"a = 1 or b = 2 -- any\"\nparallelism: 4\n")
	})
	t.Run("the key need not be among the columns", func(t *testing.T) {
		s := s.in(t)
		s.toTarget(1000, "table: t, split_rows: 90", "columns: [a, c]\nparallelism: 4\n")
		s.same("SELECT a, c FROM t", "SELECT * FROM target")
	})
	t.Run("a reader of the key's index per split, not of the whole table", func(t *testing.T) {
		s := s.in(t)
		s.exec("CREATE TABLE words (k text PRIMARY KEY, v text); INSERT INTO words SELECT md5(i::text), repeat('x', 300) FROM generate_series(1, 20000) i; ANALYZE words; CLUSTER words USING words_pkey; ANALYZE words")
		s.toTarget(20000, "table: words, split_rows: 1000", "parallelism: 2\n")
		// A session tells its reads when it ends or is idle: ask until they are there.
		var seq, idx int64
		for range 200 {
			s.exec("SELECT pg_stat_clear_snapshot(), pg_sleep(0.05)")
			seq, idx = testenv.Value[int64](t, s.url, "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'words'"), testenv.Value[int64](t, s.url, "SELECT idx_scan FROM pg_stat_user_tables WHERE relname = 'words'")
			if idx >= 20 {
				break
			}
		}
		// CLUSTER and ANALYZE have read it once or so each.
		if idx < 20 || seq > 5 {
			t.Errorf("%d reads of the whole table and %d of the index for 20 splits", seq, idx)
		}
	})
}

func TestEmptyTables(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE source (id int PRIMARY KEY, v numeric(5,2) NOT NULL); CREATE TABLE plain (v text)")
	s.write("head.csv", "a,b\n")
	s.write("nothing.csv", "")
	s.write("nothing.jsonl", "")
	t.Run("a table", func(t *testing.T) {
		s := s.in(t)
		s.toTarget(0, "table: source", "")
		s.expect("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'target'::regclass AND attnum > 0", "id|integer", "v|numeric(5,2)")
	})
	t.Run("a table without a key", func(t *testing.T) { s.in(t).toTarget(0, "table: plain", "") })
	t.Run("a query", func(t *testing.T) { s.in(t).toTarget(0, "query: SELECT * FROM source", "") })
	t.Run("a where that nothing passes", func(t *testing.T) { s.in(t).toTarget(0, "table: source", "where: id < 0\n") })
	for _, sink := range []struct{ name, text, file, want string }{
		{"a table to a file", `csv: {path: "{dir}/o.csv"}`, "o.csv", "id,v\n"},
		{"a table to a file of lines", `jsonl: {path: "{dir}/o.jsonl"}`, "o.jsonl", ""},
	} {
		t.Run(sink.name, func(t *testing.T) {
			s := s.in(t)
			s.copied(0, "source: {postgres: {url: {pg}, table: source}}\nsink: {"+sink.text+"}\n")
			equal(t, "file", s.text(sink.file), sink.want)
		})
	}
	t.Run("a file with a header alone", func(t *testing.T) {
		s := s.in(t)
		s.copied(0, "source: {csv: {path: \"{dir}/head.csv\"}}\nsink: {sqlite: {path: \"{dir}/o.db\", table: t}}\n")
		s.liteExpect("o.db", "SELECT count(*), (SELECT group_concat(name) FROM pragma_table_info('t')) FROM t", "0|a,b")
	})
	t.Run("a file with nothing in it names no columns, and says so", func(t *testing.T) {
		s := s.in(t)
		for source, way := range map[string]string{"csv: {path: \"{dir}/nothing.csv\"}": "nothing.csv", "jsonl: {path: \"{dir}/nothing.jsonl\"}": "option columns"} {
			_, err := s.run("source: {" + source + "}\nsink: {sqlite: {path: \"{dir}/p.db\", table: t}}\n")
			if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), way) {
				t.Errorf("%s: %v", source, err)
			}
		}
		s.copied(0, "source: {csv: {path: \"{dir}/nothing.csv\", header: false, names: [a]}}\nsink: {sqlite: {path: \"{dir}/q.db\", table: t}}\n")
	})
}

func TestSplitsOfSQLite(t *testing.T) {
	s := newScene(t)
	s.liteExec("in.db", `CREATE TABLE nocase (k TEXT COLLATE NOCASE PRIMARY KEY, v INT) WITHOUT ROWID; INSERT INTO nocase VALUES ('a',1),('B',2),('é',3),('中',4),('',5),('É',6);
		CREATE TABLE words (k TEXT PRIMARY KEY, v INT); INSERT INTO words VALUES ('a',1),('B',2),('b',3),('é',4),('中',5),('',6),(NULL,7);
		CREATE TABLE gaps (id INTEGER PRIMARY KEY, v INT); INSERT INTO gaps VALUES (1,1),(2,2),(5000000000,3),(-9223372036854775808,4),(9223372036854775807,5),(3,6),(4000000000,7);
		CREATE TABLE two (k INT, l TEXT, v INT, PRIMARY KEY (k, l)) WITHOUT ROWID; INSERT INTO two VALUES (1,'a',1),(1,'b',2),(2,'a',3),(2,'',4),(3,'é',5);
		CREATE TABLE eleven (id INTEGER PRIMARY KEY, v INT); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11) INSERT INTO eleven SELECT i, i FROM n`)
	for _, table := range []string{"nocase", "words", "gaps", "two", "eleven"} {
		t.Run(table, func(t *testing.T) {
			s := s.in(t)
			want := s.lite("in.db", "SELECT * FROM "+table)
			s.copied(int64(len(want)), fmt.Sprintf("source: {sqlite: {path: \"{dir}/in.db\", table: %s, split_rows: 1}}\nsink: {sqlite: {path: \"{dir}/%s.db\", table: t}}\nparallelism: 10\n", table, table))
			got := s.lite(table+".db", "SELECT * FROM t")
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A row whose key of splits changes while the job runs is read once or twice;
// with upsert by the primary key the target's state is right in the end.
func TestARowThatMovesIntoALaterSplit(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE source (id int PRIMARY KEY, k int UNIQUE NOT NULL, v text); INSERT INTO source SELECT i, i, 'old' FROM generate_series(1, 100) i;
		CREATE TABLE target (LIKE source INCLUDING INDEXES)`)
	moved := false
	s.failpoint = func(name string) {
		if name == "after-commit" && !moved {
			moved = true
			s.exec("UPDATE source SET k = k + 1000, v = 'moved' WHERE id = 3")
		}
	}
	sum := s.done("source: {postgres: {url: {pg}, table: source, key: k, split_rows: 10}}\nsink: {postgres: {url: {pg}, table: target, mode: upsert}}\nparallelism: 1\n")
	if !moved || sum.Read != 101 {
		t.Errorf("moved %v, summary %+v", moved, sum)
	}
	s.same("SELECT id, k, v FROM source", "SELECT id, k, v FROM target")
}

func TestAnEmptySplitAmongSeven(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE source (id int PRIMARY KEY, v text); INSERT INTO source SELECT i, 'v' FROM generate_series(1, 70) i; ANALYZE source")
	emptied := false
	s.failpoint = func(name string) {
		if name == "after-claim" && !emptied {
			emptied = true
			s.exec("DELETE FROM source WHERE id BETWEEN 31 AND 40")
		}
	}
	s.copied(60, "source: {postgres: {url: {pg}, table: source, split_rows: 10}}\nsink: {postgres: {url: {pg}, table: target}}\nparallelism: 1\n")
	s.same("SELECT * FROM source", "SELECT * FROM target")
}
