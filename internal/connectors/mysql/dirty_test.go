package mysql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// dirtyCells are cells that a column of the type cannot hold exactly.
func dirtyCells() map[string][]string {
	return map[string][]string{
		"TINYINT":                          {"", "128", "-129", "1.0", "1e1", "x"},
		"TINYINT UNSIGNED":                 {"-1", "256"},
		"TINYINT(1)":                       {"", "2", "maybe"},
		"SMALLINT":                         {"32768", "-32769"},
		"MEDIUMINT":                        {"8388608", "-8388609"},
		"MEDIUMINT UNSIGNED":               {"16777216"},
		"INT":                              {"", "2147483648", "-2147483649"},
		"INT UNSIGNED":                     {"4294967296", "-1"},
		"BIGINT":                           {"9223372036854775808", "-9223372036854775809"},
		"BIGINT UNSIGNED":                  {"18446744073709551616", "-1"},
		"DECIMAL(5,2)":                     {"", "1.005", "1000", "99999.99", "NaN", "Infinity", "0x10"},
		"DECIMAL(5,2) UNSIGNED":            {"-0.01"},
		"DECIMAL(65,30)":                   {"1" + strings.Repeat("0", 35), "0." + strings.Repeat("1", 31)},
		"FLOAT":                            {"", "1e39", "1e-60", "-0", "NaN", "-Infinity", "x"},
		"FLOAT(7,2)":                       {"1.005", "100000"},
		"FLOAT UNSIGNED":                   {"-1", "-0"},
		"DOUBLE":                           {"1e309", "1e-400", "-0", "-0.0", "-0e5", "-", "inf"},
		"BIT(1)":                           {"", "2"},
		"BIT(9)":                           {"10", "1011011011", "2"},
		"DATE":                             {"", "2023-02-30", "2024-00-00", "10000-01-01", "0044-03-15 BC", "infinity", "2024-01-01 10:00"},
		"TIME":                             {"839:00:00", "-839:00:00", "12:00:00.5"},
		"TIME(3)":                          {"12:00:00.0001", "12:00:00.1234567"},
		"DATETIME":                         {"2024-01-01 00:00:00.5", "10000-01-01 00:00:00", "2024-01-01 00:00:00+01", "infinity"},
		"DATETIME(6)":                      {"2024-01-01 00:00:00.0000001", "2023-02-29 00:00:00"},
		"TIMESTAMP NULL":                   {"1970-01-01 00:00:00+00", "2038-01-19 03:14:08+00", "2024-01-01 00:00:00"},
		"YEAR":                             {"1900", "2156", "70", "x"},
		"CHAR(3)":                          {"abcd", "ääää"},
		"VARCHAR(3)":                       {"abcd", "abc ", "ääää", "\xff"},
		"TINYTEXT":                         {strings.Repeat("x", 256), strings.Repeat("ä", 128)},
		"TEXT":                             {strings.Repeat("x", 65536), "\xed\xa0\x80"},
		"VARCHAR(9) CHARACTER SET utf8mb3": {"😀"},
		"VARCHAR(9) CHARACTER SET ascii":   {"ä"},
		"VARCHAR(9) CHARACTER SET latin1":  {"ł", "😀"},
		"LONGTEXT CHARACTER SET ucs2":      {"😀"},
		"BINARY(3)":                        {"ab", "abcd"},
		"VARBINARY(3)":                     {"abcd"},
		"BLOB":                             {strings.Repeat("x", 65536)},
		"ENUM('a','B','1')":                {"", "b", "A", "2", "a ", "c"},
		"SET('a','B')":                     {"b", "a,", "a,c", ","},
		"JSON":                             {"", "{", "{'a': 1}", "nul"},
		"UUID":                             {"", "f47ac10b-58cc-4372-a567-0e02b2c3d47", "g47ac10b-58cc-4372-a567-0e02b2c3d479"},
		"INET6":                            {"", "10.0.0.256.1", "g::"},
		"INT CHECK (v <> 7)":               {"7"},
	}
}

// Rule 6: what a column cannot hold exactly is a dirty record, whether our side
// finds it or the server: never rounded, clipped, or taken for something else.
func TestDirtyCells(t *testing.T) {
	t.Parallel()
	for typ, cells := range dirtyCells() {
		for _, load := range []string{"infile", "insert"} {
			t.Run(typ+"/"+load, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "CREATE TABLE t (id INT, v "+typ+")", map[string]any{"load": load}, untyped("id", "v")...)
				var rows []string
				for i, cell := range cells {
					rows = append(rows, fmt.Sprintf("%d|%s", i, cell), fmt.Sprintf("%d|%s", 1000+i, null))
				}
				c := r.load(rows...)
				if c.Dirty != int64(len(cells)) {
					t.Errorf("%d rejected, want %d: %q", c.Dirty, len(cells), r.rejected)
					r.expect("SELECT id, HEX(v) FROM t WHERE id < 1000")
				}
				for i, reason := range r.rejected {
					if !strings.HasPrefix(reason, fmt.Sprintf("%d ", i)) || strings.HasSuffix(reason, ": ") ||
						!strings.Contains(reason, " v: ") && !strings.Contains(typ, "CHECK") {
						t.Errorf("no reason, or another row's: %q", reason)
					}
				}
				r.expect("SELECT COUNT(*), COUNT(v) FROM t", fmt.Sprintf("%d|0", len(cells)))
			})
		}
	}
}

// takenCells are cells with what a column of the type holds then, as HEX gives it
// for a text in front of which stands x.
func takenCells() map[string][][2]string {
	same := func(cells ...string) (pairs [][2]string) {
		for _, c := range cells {
			pairs = append(pairs, [2]string{c, c})
		}
		return pairs
	}
	return map[string][][2]string{
		"TINYINT":                          append(same("127", "-128", "0"), [2]string{" +007 ", "7"}),
		"TINYINT UNSIGNED":                 same("255", "0"),
		"TINYINT(1)":                       {{"true", "1"}, {"f", "0"}, {"1", "1"}},
		"MEDIUMINT UNSIGNED":               same("16777215"),
		"BIGINT":                           same("9223372036854775807", "-9223372036854775808"),
		"BIGINT UNSIGNED":                  same("18446744073709551615", "9223372036854775808"),
		"DECIMAL(5,2)":                     {{"999.99", "999.99"}, {"-7.1000", "-7.10"}, {"1e2", "100.00"}, {"-0.00", "0.00"}},
		"DECIMAL(65,30)":                   same(strings.Repeat("9", 35) + "." + strings.Repeat("9", 30)),
		"FLOAT":                            {{"3.4028235e+38", "3.40282e38"}, {"-3.4028235e+38", "-3.40282e38"}, {"1e-45", "1.4013e-45"}},
		"FLOAT(7,2)":                       {{"1.25", "1.25"}},
		"DOUBLE":                           {{"1.7976931348623157e+308", "1.7976931348623157e308"}, {"5e-324", "5e-324"}, {"0.1", "0.1"}, {"-1.50", "-1.5"}},
		"DATE":                             {{"0000-00-00", "0000-00-00"}, {"0001-01-01", "0001-01-01"}, {"9999-12-31", "9999-12-31"}, {"2024/2/29", "2024-02-29"}},
		"TIME(6)":                          {{"838:59:59.999999", "838:59:59.999999"}, {"-838:59:59.999999", "-838:59:59.999999"}, {"-00:00:00.5", "-00:00:00.500000"}, {"9:05", "09:05:00.000000"}},
		"DATETIME(6)":                      {{"0000-00-00 00:00:00", "0000-00-00 00:00:00.000000"}, {"0001-01-01 00:00:00", "0001-01-01 00:00:00.000000"}, {"9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"}, {"2024-02-29T10:00", "2024-02-29 10:00:00.000000"}},
		"TIMESTAMP(6) NULL":                {{"1970-01-01 00:00:01+00", "1970-01-01 00:00:01.000000"}, {"2038-01-19 03:14:07.999999+00", "2038-01-19 03:14:07.999999"}, {"2024-01-01 00:00:00+05:30", "2023-12-31 18:30:00.000000"}},
		"YEAR":                             {{"0", "0000"}, {"0000", "0000"}, {"1901", "1901"}, {"2155", "2155"}},
		"BIT(1)":                           {{"1", "\x01"}, {"false", "\x00"}},
		"BIT(9)":                           {{"100001010", "\x01\x0a"}, {"000001001", "\x00\x09"}, {"001011100", "\x00\x5c"}},
		"BIT(64)":                          {{strings.Repeat("1", 64), strings.Repeat("\xff", 8)}},
		"CHAR(3)":                          {{"abc  ", "abc"}, {"äö   ", "äö"}, {"äöü", "äöü"}, {"", ""}},
		"VARCHAR(9)":                       same("a\x00b", "tab\there", "line\nend", `back\sl\N`, `\N`, "'quo'te\"", "😀", "a ", "\r", "\x1a"),
		"TINYTEXT":                         same(strings.Repeat("x", 255)),
		"VARCHAR(9) CHARACTER SET utf8mb3": same("äöü€", "\\'\t"),
		"VARCHAR(9) CHARACTER SET latin1":  same("äöü€", "\\'\t\n", `\N`),
		"LONGTEXT CHARACTER SET utf16":     same("äöü€😀", "\\'\t\n"),
		"BINARY(3)":                        same("\x00\xff\\", "a\t\n", "'''"),
		"VARBINARY(9)":                     same("\x00\xff\\N", "", "\\N"),
		"LONGBLOB":                         same("\x00\x01\t\n\r\\'\"\x1a\xff" + strings.Repeat("\x00\\", 100)),
		"ENUM('a','B','it''s','ä,')":       same("a", "B", "it's", "ä,"),
		"ENUM('ä') CHARACTER SET latin1":   same("ä"),
		"SET('a','B')":                     {{"a,B", "a,B"}, {"", ""}, {"B", "B"}},
		"JSON":                             same(`{"b": 1, "a": [1.0, "\n\u0041ä"]}`, "null", `"x"`),
		"UUID":                             {{"{F47AC10B-58CC-4372-A567-0E02B2C3D479}", "f47ac10b-58cc-4372-a567-0e02b2c3d479"}},
		"INET6":                            {{"::1", "::1"}},
	}
}

// Each type's extremes arrive as they are, and texts that are not canonical
// and mean one thing only are taken.
func TestCellsTaken(t *testing.T) {
	t.Parallel()
	for typ, cells := range takenCells() {
		for _, load := range []string{"infile", "insert"} {
			t.Run(typ+"/"+load, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "CREATE TABLE t (id INT, v "+typ+")", map[string]any{"load": load}, untyped("id", "v")...)
				var rows, want []string
				for i, c := range cells {
					rows = append(rows, fmt.Sprintf("%d|%s", i, c[0]))
					want = append(want, fmt.Sprintf("%d|%X", i, c[1]))
				}
				if n := r.load(rows...); n.Written != int64(len(cells)) {
					t.Errorf("rejected: %q", r.rejected)
				}
				text := "CONVERT(v USING utf8mb4)"
				if strings.Contains(typ, "BIN") || strings.Contains(typ, "BLOB") || strings.Contains(typ, "BIT") {
					text = "v"
				}
				if strings.HasPrefix(typ, "BIT") {
					text = fmt.Sprintf("UNHEX(LPAD(HEX(v), %d, '0'))", 2*len(cells[0][1]))
				}
				r.expect("SELECT id, HEX("+text+") FROM t ORDER BY id", want...)
			})
		}
	}
}

// Rule 6: a duplicate that LOAD DATA LOCAL drops without a word, and a value
// that it clips, are found: six rows sent, four stored.
func TestLoadDataIsNotTrusted(t *testing.T) {
	t.Parallel()
	const setup = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10) CHARACTER SET latin1, u INT UNIQUE)"
	rows := []string{"1|a|1", "2|b|2", "2|twice|3", "3|ł|4", "4|d|1", "5|e|" + null}
	r := newRig(t, setup, nil, untyped("id", "v", "u")...)
	if c := r.load(rows...); c.Written != 3 || c.Dirty != 3 {
		t.Errorf("counters: %+v, rejected %q", c, r.rejected)
	}
	for i, want := range []string{"2 : Duplicate entry '2'", "3 v: Incorrect string value", "4 : Duplicate entry '1'"} {
		if i >= len(r.rejected) || !strings.HasPrefix(r.rejected[i], want) {
			t.Errorf("rejected %q, want %q", r.rejected, want)
		}
	}
	r.expect("SELECT * FROM t ORDER BY id", "1|a|1", "2|b|2", "5|e|NULL")

	// The test above sees the fault when LOAD DATA is trusted.
	r = newRig(t, setup, nil, untyped("id", "v", "u")...)
	r.prepare(1)
	r.breakRules(breakRules{trustLoad: true})
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch(rows...)))
	state = commit(t, w, state, 6, true, none)
	if state.Counters.Written != 4 || len(r.rejected) != 0 {
		t.Errorf("counters: %+v, rejected %q", state.Counters, r.rejected)
	}
	r.expect("SELECT id, v FROM t ORDER BY id", "1|a", "2|b", "3|?", "5|e")
	expectClass(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}), connector.Fatal, "do not match")
}

// Rule 6: of many rows those at fault are found by halving, each with its
// number and reason; the others are written once.
func TestRecordsThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p SELECT seq FROM seq_1_to_20000; CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id), CHECK (id <> 77))",
		nil, untyped("id", "p")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	const n = 20000
	var want []string
	for start := 1; start <= n; start += 1000 {
		rows := make([]string, 0, 1000)
		for id := start; id < start+1000; id++ {
			key, p := id, id
			switch id {
			case 555, 12345:
				p = -1
			case 77:
			case 11000:
				key = 10999
			default:
				rows = append(rows, fmt.Sprintf("%d|%d", id, p))
				continue
			}
			want = append(want, fmt.Sprint(key))
			rows = append(rows, fmt.Sprintf("%d|%d", key, p))
		}
		check(t, w.Write(t.Context(), r.batch(rows...)))
	}
	state = commit(t, w, state, n, true, func() int64 { return int64(len(r.rejected)) })
	for i, id := range want {
		if i >= len(r.rejected) || !strings.HasPrefix(r.rejected[i], id+" ") {
			t.Fatalf("rejected %q, want %q", r.rejected, want)
		}
	}
	if state.Counters.Written != n-4 || !state.Counters.Balanced() {
		t.Errorf("counters: %+v", state.Counters)
	}
	r.expect("SELECT COUNT(*), SUM(id) FROM t", fmt.Sprintf("%d|%d", n-4, n*(n+1)/2-77-555-11000-12345))
}

// Rule 6: what only the table can refuse is the record's fault, whatever refuses it.
func TestRefusedByTheTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setup, reason string }{
		"trigger": {`CREATE TABLE t (id INT); CREATE TRIGGER judge BEFORE INSERT ON t FOR EACH ROW
  IF NEW.id = 3 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'three is no number'; END IF`, "three is no number"},
		"trigger of a state of its own": {`CREATE TABLE t (id INT); CREATE TRIGGER judge BEFORE INSERT ON t FOR EACH ROW
  IF NEW.id = 3 THEN SIGNAL SQLSTATE 'L1234' SET MYSQL_ERRNO = 5555, MESSAGE_TEXT = 'three is no number'; END IF`, "three is no number"},
		"partition":      {"CREATE TABLE t (id INT) PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (3), PARTITION high VALUES LESS THAN (3 + 1))", "partition"},
		"generated":      {"CREATE TABLE t (id INT, g TINYINT AS (IF(id = 3, 300, 1)) STORED)", "Out of range"},
		"foreign key":    {"CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1), (2); CREATE TABLE t (id INT, FOREIGN KEY (id) REFERENCES p (id))", "foreign key"},
		"missing column": {"CREATE TABLE t (id INT, n INT NOT NULL); CREATE TRIGGER fill BEFORE INSERT ON t FOR EACH ROW SET NEW.n = IF(NEW.id = 3, NULL, 1)", "n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.setup, nil, untyped("id")...)
			third := "3"
			if name == "partition" {
				third = "4"
			}
			counters := r.load("1", third, "2")
			if counters.Written != 2 || counters.Dirty != 1 || !strings.HasPrefix(r.rejected[0], third+" ") || !strings.Contains(r.rejected[0], c.reason) {
				t.Errorf("counters: %+v, rejected %q", counters, r.rejected)
			}
			r.expect("SELECT id FROM t ORDER BY id", "1", "2")
		})
	}
}
