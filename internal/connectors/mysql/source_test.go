package mysql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

func TestEmptyTablesAndNoRows(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE n (id int); CREATE VIEW v AS SELECT id FROM t")
	for _, options := range []map[string]any{
		{}, {"table": "n"}, {"table": "v"}, {"query": "SELECT * FROM t"}, {"query": "SELECT * FROM t", "key": "id"}, {"table": "n", "key": "id"},
	} {
		for _, want := range []connector.Want{{Parallelism: 3}, {Ordered: true}} {
			if rows, _ := readAll(t, r.source(options, connector.SourceEnv{}), want); len(rows) != 0 {
				t.Errorf("%v: read %q", options, rows)
			}
		}
	}
	r.maria.Exec(t, r.url, "INSERT INTO t VALUES (1), (2)")
	if rows, _ := readAll(t, r.source(nil, connector.SourceEnv{Where: "id > 2"}), connector.Want{}); len(rows) != 0 {
		t.Errorf("read %q", rows)
	}
}

// The job's condition stays one, whatever it holds.
func TestWhere(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY, v varchar(9)); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, 'd')")
	for where, want := range map[string]string{
		"v = 'a' OR id = 4":        "1|a 4|d",
		"v IS NULL -- nothing":     "3|NULL",
		"t.id BETWEEN 2 AND 3 # )": "2|b 3|NULL",
		"v LIKE 'A'":               "1|a",
	} {
		for _, options := range []map[string]any{{"split_rows": 1}, {"query": "SELECT * FROM t AS t ORDER BY id"}} {
			if options["query"] != nil && strings.HasPrefix(where, "t.") {
				continue
			}
			s := r.source(options, connector.SourceEnv{Where: where})
			rows, _ := readAll(t, s, connector.Want{Parallelism: 1})
			if got := strings.Join(rows, " "); got != want || !s.PushesFilter() {
				t.Errorf("%v where %s: read %q, want %q", options, where, got, want)
			}
		}
	}
	for _, where := range []string{"id = 1) OR (id = 2", "x = 1", "id = 1 /*", "id = 1 ORDER BY id", "id = 1; DROP TABLE t", ""} {
		s := r.source(nil, connector.SourceEnv{Where: where})
		_, err := s.Schema(t.Context())
		if where != "" && (connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "where: ")) {
			t.Errorf("where %s: %v", where, err)
		}
	}
}

func TestColumnsAndKeyOfTheSchema(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (a int NOT NULL, b varchar(5), c float, PRIMARY KEY (a)); INSERT INTO t VALUES (1, 'x', 0.1)")
	s := r.source(nil, connector.SourceEnv{Columns: []string{"c", "a"}})
	if got := typesOf(t, s); got != "a int32 not null, c float32" || !slices.Equal(must(s.Schema(t.Context()))(t).Key, []string{"a"}) {
		t.Errorf("the schema is %s", got)
	}
	if rows, _ := readAll(t, s, connector.Want{}); strings.Join(rows, " ") != "1|0.1" {
		t.Errorf("read %q", rows)
	}
	if schema := must(r.source(nil, connector.SourceEnv{Columns: []string{"b"}}).Schema(t.Context()))(t); len(schema.Key) != 0 {
		t.Errorf("the key %q is no part of the schema", schema.Key)
	}
}

// A query is run as it is where it can be, and keeps its order.
func TestQueries(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY, f float, d decimal(10,2), u decimal(5,2) unsigned, b bit(9), e enum('x','y'), ts timestamp(3), tm time(2), n varchar(5) character set latin1); "+
		"INSERT INTO t VALUES (1, 0.1, 7.1, 999.99, 300, 'y', '2024-01-01 10:00:00.120', '-25:00:00.50', 'é'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
	for query, want := range map[string]string{
		"SELECT * FROM t":                                         "1|0.1|7.10|999.99|300|y|2024-01-01 09:00:00.12+00|-25:00:00.5|é 2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL",
		"SELECT id, n FROM t ORDER BY id DESC":                    "2|NULL 1|é",
		"SELECT f + 0e0 AS x FROM t WHERE id = 1;":                "0.10000000149011612",
		"WITH q AS (SELECT 1 AS a) SELECT * FROM q -- the 1":      "1",
		"SELECT NULL AS nothing, 'x' AS `a b`":                    "NULL|x",
		"SELECT id FROM t UNION ALL SELECT id FROM t":             "1 2 1 2",
		"SELECT count(*) AS n, sum(id) AS s, max(ts) AS m FROM t": "2|3|2024-01-01 09:00:00.12+00",
	} {
		r.maria.Exec(t, r.url, "SET time_zone = '+01:00'; UPDATE t SET ts = '2024-01-01 10:00:00.120' WHERE id = 1")
		rows, rejects := readAll(t, r.source(map[string]any{"query": query}, connector.SourceEnv{}), connector.Want{})
		if got := strings.Join(rows, " "); got != want || len(rejects) > 0 {
			t.Errorf("%s\n got %s\nwant %s (%+v)", query, got, want, rejects)
		}
	}
	s := r.source(map[string]any{"query": "SELECT * FROM t"}, connector.SourceEnv{})
	if got, want := typesOf(t, s), "id int32 not null, f float32, d decimal(11,2), u decimal(5,2), b uint64, e text, ts instant(3), tm time(2), n text"; got != want {
		t.Errorf("types are %s, want %s", got, want)
	}
	for query, word := range map[string]string{
		"SELECT id, id FROM t": "by AS", "SELECT": "syntax", "SELECT ?": "syntax", "SHOW TABLES": "syntax", "DELETE FROM t": "syntax", "SELECT * FROM missing": "missing",
	} {
		_, err := r.source(map[string]any{"query": query}, connector.SourceEnv{}).Schema(t.Context())
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(fmt.Sprint(err), word) {
			t.Errorf("%s: %v, want %q", query, err, word)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY)")
	for name, c := range map[string]struct {
		options map[string]any
		word    string
	}{
		"no such table":    {map[string]any{"table": "missing"}, "does not exist"},
		"another case":     {map[string]any{"table": "T"}, "does not exist"},
		"no such database": {map[string]any{"table": "nowhere.t"}, "does not exist"},
		"no database":      {map[string]any{"url": r.maria.URL("")}, "names no database"},
		"unknown database": {map[string]any{"url": r.maria.URL("nowhere")}, "nowhere"},
		"wrong password":   {map[string]any{"url": strings.Replace(r.url, "root@", "root:sesame@", 1)}, "Access denied"},
		"no certificate":   {map[string]any{"url": r.url + "?ssl-mode=required"}, "TLS"},
	} {
		_, err := r.source(c.options, connector.SourceEnv{}).Schema(t.Context())
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(fmt.Sprint(err), c.word) {
			t.Errorf("%s: %v (%s), want %q", name, err, connector.ClassOf(err), c.word)
		}
		if strings.Contains(fmt.Sprint(err), "sesame") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

// A table of another database is read by its whole name.
func TestAnotherDatabase(t *testing.T) {
	r, other := newSourceRig(t, "SELECT 1"), newSourceRig(t, "CREATE TABLE `a.b` (id int PRIMARY KEY); INSERT INTO `a.b` VALUES (1), (2)")
	database := other.maria.Lines(t, other.url, "SELECT database()")[0]
	rows, _ := readAll(t, r.source(map[string]any{"table": database + ".`a.b`", "split_rows": 1}, connector.SourceEnv{}), connector.Want{Parallelism: 1})
	if strings.Join(rows, " ") != "1 2" {
		t.Errorf("read %q", rows)
	}
}

func TestDescribe(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (a int, b int, v int, PRIMARY KEY (a, b)); CREATE TABLE n (a int)")
	for name, c := range map[string]struct {
		options map[string]any
		want    string
	}{
		"key":   {nil, "by the unique key a, b; reading goes on after the last key"},
		"none":  {map[string]any{"table": "n"}, "splits: one, which is committed once, at its end"},
		"named": {map[string]any{"table": "n", "key": "a"}, "splits: by a, which need not be unique"},
		"query": {map[string]any{"query": "SELECT 1 AS x"}, "reads the query"},
	} {
		lines := must(r.source(c.options, connector.SourceEnv{Where: "1 = 1"}).Describe(t.Context()))(t)
		if got := strings.Join(lines, "\n"); !strings.Contains(got, c.want) || !strings.Contains(got, "where runs in the database: 1 = 1") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A split that was made by a key which is gone is refused, not read otherwise.
func TestSplitsOfAnotherKey(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL); INSERT INTO t VALUES (1, 3), (2, 2), (3, 1)")
	first := r.source(map[string]any{"split_rows": 1}, connector.SourceEnv{})
	e := must(first.Enumerate(t.Context(), "", 0, connector.Want{Parallelism: 1}))(t)
	r.maria.Exec(t, r.url, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b)")
	s := r.source(map[string]any{"split_rows": 1}, connector.SourceEnv{})
	if _, err := s.Open(t.Context(), e.Splits[0], ""); connector.ClassOf(err) != connector.Permanent {
		t.Errorf("open: %v", err)
	}
	if _, err := s.Enumerate(t.Context(), e.Next, 1, connector.Want{Parallelism: 1}); connector.ClassOf(err) != connector.Permanent || !strings.Contains(err.Error(), "--restart") {
		t.Errorf("enumerate: %v", err)
	}
	for _, pos := range []connector.Position{"x", `["1","2"]`, `["a"]`} {
		if _, err := s.Open(t.Context(), allSplits(t, s, connector.Want{Ordered: true})[0], pos); connector.ClassOf(err) != connector.Permanent {
			t.Errorf("open at %s: %v", pos, err)
		}
	}
}

// Columns that a user may not see are not left out in silence.
func TestColumnsWithoutRights(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (a int PRIMARY KEY, secret int); INSERT INTO t VALUES (1, 2)")
	user := "part_" + r.database()
	r.maria.Exec(t, r.url, "CREATE USER "+user+"; GRANT SELECT (a) ON t TO "+user)
	t.Cleanup(func() { r.maria.Exec(t, r.url, "DROP USER "+user) })
	limited := map[string]any{"url": strings.Replace(r.url, "root@", user+"@", 1)}
	_, err := r.source(limited, connector.SourceEnv{}).Schema(t.Context())
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(fmt.Sprint(err), "name them in the job") {
		t.Errorf("all columns: %v", err)
	}
	if rows, _ := readAll(t, r.source(limited, connector.SourceEnv{Columns: []string{"a"}}), connector.Want{}); strings.Join(rows, " ") != "1" {
		t.Errorf("read %q", rows)
	}
}
