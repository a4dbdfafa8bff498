package mysql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// keyCase is a table t of a key and some rows of it.
type keyCase struct {
	setup string
	rows  int
	// columns are those that the job needs, nil for all.
	columns []string
}

func keyCases() map[string]keyCase {
	return map[string]keyCase{
		"case-insensitive": {"CREATE TABLE t (k varchar(10) COLLATE utf8mb4_unicode_ci PRIMARY KEY, v int); INSERT INTO t VALUES ('a',1),('B',2),('b2',3),('é',4),('中',5),('',6),('z''\\\\',7),('ß',8),('_',9),(' x',10)", 10, nil},
		"general":          {"CREATE TABLE t (k varchar(10) COLLATE utf8mb4_general_ci PRIMARY KEY) ; INSERT INTO t VALUES ('a'),('B'),('c'),('é'),('中'),(''),('😀')", 7, nil},
		"binary order":     {"CREATE TABLE t (k varchar(10) COLLATE utf8mb4_bin PRIMARY KEY); INSERT INTO t VALUES ('a'),('B'),('b'),('é'),('中'),(''),('A')", 7, nil},
		"no pad":           {"CREATE TABLE t (k varchar(10) COLLATE utf8mb4_nopad_bin PRIMARY KEY); INSERT INTO t VALUES ('a'),('a '),('a  '),('A'),('')", 5, nil},
		"Swedish":          {"CREATE TABLE t (k varchar(10) CHARACTER SET latin1 PRIMARY KEY); INSERT INTO t VALUES ('a'),('B'),('é'),('ö'),('z'),('å'),('')", 7, nil},
		"Chinese":          {"CREATE TABLE t (k char(10) CHARACTER SET gbk PRIMARY KEY); INSERT INTO t VALUES ('a'),('中'),('文'),('B'),('')", 5, nil},
		"Japanese twins":   {"CREATE TABLE t (k varchar(10) CHARACTER SET cp932 COLLATE cp932_bin PRIMARY KEY); INSERT INTO t VALUES (_cp932 x'81CA'),(_cp932 x'EEF9'),(_cp932 x'FA54'),('a'),(_cp932 x'FA59'),(_cp932 x'878A')", 6, nil},
		"bytes":            {"CREATE TABLE t (k varbinary(10) PRIMARY KEY); INSERT INTO t VALUES (x''),(x'00'),(x'0000'),(x'ff'),('a'),(x'275c')", 6, nil},
		"fixed bytes":      {"CREATE TABLE t (k binary(3) PRIMARY KEY); INSERT INTO t VALUES (x'00'),(x'0001'),('a'),(x'ffffff')", 4, nil},
		"signed":           {"CREATE TABLE t (k bigint PRIMARY KEY); INSERT INTO t VALUES (-9223372036854775808),(-1),(0),(9223372036854775807)", 4, nil},
		"unsigned":         {"CREATE TABLE t (k bigint unsigned PRIMARY KEY); INSERT INTO t VALUES (0),(1),(9223372036854775808),(18446744073709551615)", 4, nil},
		"decimal":          {"CREATE TABLE t (k decimal(65,30) PRIMARY KEY); INSERT INTO t VALUES (-1),(0),(0.000000000000000000000000000001),(99999999999999999999999999999999999.999999999999999999999999999999)", 4, nil},
		"zerofill":         {"CREATE TABLE t (k decimal(10,2) zerofill PRIMARY KEY); INSERT INTO t VALUES (0),(1.50),(20)", 3, nil},
		"float":            {"CREATE TABLE t (k float PRIMARY KEY); INSERT INTO t VALUES (-1e38),(-0.1),(0),(0.1),(0.2),(16777216),(16777218)", 7, nil},
		"double":           {"CREATE TABLE t (k double PRIMARY KEY); INSERT INTO t VALUES (-1e308),(0.1),(0.30000000000000004),(0.3),(5e-324)", 5, nil},
		"date":             {"SET sql_mode = 'ALLOW_INVALID_DATES'; CREATE TABLE t (k date PRIMARY KEY); INSERT INTO t VALUES ('0000-00-00'),('0001-01-01'),('2024-02-29'),('9999-12-31')", 4, nil},
		"datetime":         {"CREATE TABLE t (k datetime(6) PRIMARY KEY); INSERT INTO t VALUES (0),('2024-01-01 00:00:00.000001'),('2024-01-01'),('9999-12-31 23:59:59.999999')", 4, nil},
		"moment":           {"SET time_zone = 'SYSTEM'; CREATE TABLE t (k timestamp(3) PRIMARY KEY); INSERT INTO t VALUES ('2024-03-10 02:30:00.5'),('2024-03-10 02:30:00'),('1980-01-01')", 3, nil},
		"time":             {"CREATE TABLE t (k time(2) PRIMARY KEY); INSERT INTO t VALUES ('-838:59:59'),('-00:00:00.01'),('00:00:00'),('00:00:00.5'),('838:59:59')", 5, nil},
		"year":             {"CREATE TABLE t (k year PRIMARY KEY); INSERT INTO t VALUES (0),(1901),(1999),(2001),(2155)", 5, nil},
		"bit":              {"CREATE TABLE t (k bit(64) PRIMARY KEY); INSERT INTO t VALUES (0),(5),(256),(18446744073709551615)", 4, nil},
		"boolean":          {"CREATE TABLE t (k boolean PRIMARY KEY); INSERT INTO t VALUES (0),(1)", 2, nil},
		"uuid":             {"CREATE TABLE t (k uuid PRIMARY KEY); INSERT INTO t VALUES ('00000000-0000-0000-0000-000000000000'),('f47ac10b-58cc-4372-a567-0e02b2c3d479'),('123e4567-e89b-12d3-a456-426655440000'),('123e4567-e89b-12d3-a456-426655440001'),('ffffffff-ffff-ffff-ffff-ffffffffffff')", 5, nil},
		"addresses":        {"CREATE TABLE t (k inet6 PRIMARY KEY); INSERT INTO t VALUES ('::'),('::1'),('2001:db8::1'),('ff::')", 4, nil},
		"composite":        {"CREATE TABLE t (a int, k varchar(9) COLLATE utf8mb4_general_ci, v int, PRIMARY KEY (a, k)); INSERT INTO t VALUES (1,'',1),(1,'a',2),(1,'B',3),(2,'A',4),(2,'é',5),(3,'',6),(-1,'z',7)", 7, nil},
		"three columns":    {"CREATE TABLE t (a int, b date, c varbinary(4), PRIMARY KEY (a, b, c)); INSERT INTO t SELECT x.seq, concat('2024-01-0', y.seq), z.seq FROM seq_1_to_3 x, seq_1_to_3 y, seq_1_to_3 z", 27, nil},
		"enum behind":      {"CREATE TABLE t (a int, k enum('z','a','m'), PRIMARY KEY (a, k)); INSERT INTO t VALUES (1,'a'),(1,'z'),(1,'m'),(2,'a'),(2,'z')", 5, nil},
		"key not wanted":   {"CREATE TABLE t (k varchar(9) CHARACTER SET latin1, f float, v int, PRIMARY KEY (k, f)); INSERT INTO t VALUES ('a',0.1,1),('a',0.2,2),('B',0.1,3),('ö',-0.1,4)", 4, []string{"v"}},
		"secondary":        {"CREATE TABLE t (v int, k varchar(300) NOT NULL, UNIQUE `from` (k)); INSERT INTO t VALUES (1,'x'),(2,'y'),(3,repeat('é',300))", 3, nil},
		"ignored index":    {"CREATE TABLE t (a int NOT NULL, k int NOT NULL, UNIQUE (k), UNIQUE (a) IGNORED); INSERT INTO t VALUES (1,3),(2,2),(3,1)", 3, nil},
		"versioned":        {"CREATE TABLE t (k int PRIMARY KEY, v int INVISIBLE) WITH SYSTEM VERSIONING; INSERT INTO t (k, v) VALUES (1,1),(2,2); UPDATE t SET v = 3; DELETE FROM t WHERE k = 1", 1, nil},
		"keywords":         {"CREATE TABLE t (`select` int, `from``x` int, `a.b` int, PRIMARY KEY (`from``x`)); INSERT INTO t VALUES (1,5,3),(2,4,4)", 2, nil},
		"upper and lower":  {"CREATE TABLE t (Id int PRIMARY KEY, V int); INSERT INTO t VALUES (1,1),(2,2)", 2, nil},
		"partitions":       {"CREATE TABLE t (k int PRIMARY KEY, v int) PARTITION BY HASH (k) PARTITIONS 3; INSERT INTO t SELECT seq, seq FROM seq_1_to_20", 20, nil},
		"descending":       {"CREATE TABLE t (k int, v int, PRIMARY KEY (k DESC)); INSERT INTO t VALUES (1,1),(2,2),(3,3)", 3, nil},
	}
}

// Whatever the key, splits of one row each have each record once, and reading
// goes on after every row: the order is the server's own.
func TestKeysSplitAndResume(t *testing.T) {
	for name, c := range keyCases() {
		t.Run(name, func(t *testing.T) {
			r := newSourceRig(t, c.setup)
			s := r.source(map[string]any{"split_rows": 1}, connector.SourceEnv{Columns: c.columns})
			whole, rejects := readAll(t, s, connector.Want{Ordered: true})
			if len(whole)+len(rejects) != c.rows || len(rejects) > 0 {
				t.Fatalf("%d rows and %d rejects, want %d", len(whole), len(rejects), c.rows)
			}
			splits := allSplits(t, s, connector.Want{Parallelism: 2})
			if len(splits) != c.rows+1 {
				t.Errorf("%d splits of %d rows", len(splits), c.rows)
			}
			rows, _ := readAll(t, s, connector.Want{Parallelism: 2})
			if !slices.Equal(rows, whole) {
				t.Errorf("the splits have\n%q, all of it is\n%q", rows, whole)
			}
			all := allSplits(t, s, connector.Want{Ordered: true})[0]
			for i, split := range splits[:c.rows] {
				spec := must(database.DecodeSpec[database.Range](split.Spec))(t)
				pos := must(database.EncodePosition(spec.High))(t)
				if rest, _ := readFrom(t, s, all, pos); !slices.Equal(rest, whole[i+1:]) {
					t.Errorf("after %s come\n%q, want\n%q", pos, rest, whole[i+1:])
				}
			}
		})
	}
}

// The ranges of a key are read by its index, and not sorted, however large they
// are and whatever their type.
func TestRangesUseTheIndex(t *testing.T) {
	for name, setup := range map[string]string{
		"number":    "CREATE TABLE t (k bigint unsigned PRIMARY KEY, v text); INSERT INTO t SELECT seq, repeat('x', 50) FROM seq_1_to_3000",
		"text":      "CREATE TABLE t (k varchar(20) PRIMARY KEY, v text) CHARACTER SET utf8mb4; INSERT INTO t SELECT concat('k', seq), repeat('x', 50) FROM seq_1_to_3000",
		"latin1":    "CREATE TABLE t (k varchar(20) CHARACTER SET latin1 PRIMARY KEY, v text); INSERT INTO t SELECT concat('é', seq), repeat('x', 50) FROM seq_1_to_3000",
		"moment":    "CREATE TABLE t (k timestamp PRIMARY KEY, v text); INSERT INTO t SELECT '2024-01-01' + INTERVAL seq MINUTE, repeat('x', 50) FROM seq_1_to_3000",
		"uuid":      "CREATE TABLE t (k uuid PRIMARY KEY, v text); INSERT INTO t SELECT uuid(), repeat('x', 50) FROM seq_1_to_3000",
		"composite": "CREATE TABLE t (a int, b varchar(20), v text, PRIMARY KEY (a, b)); INSERT INTO t SELECT seq DIV 10, seq, repeat('x', 50) FROM seq_1_to_3000",
		"secondary": "CREATE TABLE t (k int NOT NULL, v text, UNIQUE (k)); INSERT INTO t SELECT seq, repeat('x', 50) FROM seq_1_to_3000",
		"float":     "CREATE TABLE t (k float PRIMARY KEY, v text); INSERT INTO t SELECT seq / 7, repeat('x', 50) FROM seq_1_to_3000",
	} {
		t.Run(name, func(t *testing.T) {
			r := newSourceRig(t, setup+"; ANALYZE TABLE t")
			s := r.source(map[string]any{"split_rows": 1000}, connector.SourceEnv{})
			sh := must(s.resolve(t.Context()))(t)
			for i, split := range allSplits(t, s, connector.Want{Parallelism: 1}) {
				rd := &reader{source: s}
				statement := must(rd.statement(sh, split, ""))(t)
				for _, row := range r.maria.Rows(t, r.url, "EXPLAIN "+statement) {
					how, extra := row[3], row[len(row)-1]
					if how != "range" || strings.Contains(extra, "filesort") {
						t.Errorf("split %d: %q is read by %s, %s", i, statement, how, extra)
					}
				}
			}
			statement := must((&reader{source: s}).statement(sh, sh.Whole().Splits[0], ""))(t)
			if got := r.maria.Rows(t, r.url, "EXPLAIN "+statement)[0]; got[3] != "index" || strings.Contains(got[len(got)-1], "filesort") {
				t.Errorf("all of it is read by %q", got)
			}
		})
	}
}

// A key that the user names need not be unique: rows that are alike in it stay
// together, those without it are a split of their own.
func TestNamedKeys(t *testing.T) {
	for name, c := range map[string]struct {
		setup   string
		options map[string]any
		splits  int
	}{
		"not unique":       {"CREATE TABLE t (k varchar(5), v int); INSERT INTO t VALUES ('a',1),('A',2),('b',3),('B',4),('c',5),(NULL,6),(NULL,7)", map[string]any{"key": "k"}, 5},
		"only NULL":        {"CREATE TABLE t (k int, v int); INSERT INTO t VALUES (NULL,1),(NULL,2)", map[string]any{"key": "k"}, 2},
		"unique with NULL": {"CREATE TABLE t (k int, v int, UNIQUE (k)); INSERT INTO t VALUES (NULL,1),(NULL,2),(1,3),(2,4)", map[string]any{"key": "k"}, 4},
		"enum":             {"CREATE TABLE t (k enum('z','a') NOT NULL, v int); INSERT INTO t VALUES ('z',1),('a',2),('a',3),('z',4)", map[string]any{"key": "k"}, 3},
		"view":             {"CREATE TABLE b (k int, v int); CREATE VIEW t AS SELECT * FROM b; INSERT INTO b VALUES (NULL,1),(1,2),(2,3),(3,4)", map[string]any{"key": "K"}, 5},
		"query":            {"CREATE TABLE b (k int, v int); INSERT INTO b VALUES (NULL,1),(1,2),(2,3),(3,4)", map[string]any{"query": "SELECT k AS x, v, '' AS `x y` FROM b", "key": "x"}, 5},
		"query of bits":    {"CREATE TABLE b (k bit(9) NOT NULL); INSERT INTO b VALUES (1),(300)", map[string]any{"query": "SELECT k FROM b", "key": "k"}, 3},
		"more than unique": {"CREATE TABLE t (a int NOT NULL, b int PRIMARY KEY); INSERT INTO t VALUES (1,1),(1,2),(0,3)", map[string]any{"key": "a,b"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSourceRig(t, c.setup)
			c.options["split_rows"] = 1
			s := r.source(c.options, connector.SourceEnv{})
			if splits := allSplits(t, s, connector.Want{Parallelism: 1}); len(splits) != c.splits {
				t.Errorf("%d splits, want %d: %+v", len(splits), c.splits, splits)
			}
			rows, _ := readAll(t, s, connector.Want{})
			whole, _ := readAll(t, s, connector.Want{Ordered: true})
			slices.Sort(rows)
			slices.Sort(whole)
			if !slices.Equal(rows, whole) || len(rows) == 0 {
				t.Errorf("the splits have %q, all of it is %q", rows, whole)
			}
		})
	}
}

func TestKeysThatCannotBe(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (g point, j json, v int)")
	for key, word := range map[string]string{"g": "no ranges", "x": "has no column x; it has g, j, v"} {
		_, err := r.source(map[string]any{"key": key}, connector.SourceEnv{}).Schema(t.Context())
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(fmt.Sprint(err), word) {
			t.Errorf("key %s: %v, want %q", key, err, word)
		}
	}
}
