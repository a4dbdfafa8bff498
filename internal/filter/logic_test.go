package filter

import "testing"

// The truth tables are those of ISO SQL, written out; t, f and n are columns
// that are true, false and NULL.
func TestLogicHasSQLsTruthTables(t *testing.T) {
	cells := []cell{
		{"t", "bool", "true"},
		{"f", "bool", "false"},
		{"n", "bool", nil},
		{"x", "int32", nil},
		{"s", "text", nil},
		{"r", "float64", nil},
		{"d", "date", nil},
		{"u", "uuid", nil},
		{"y", "int32", "1"},
		{"a", "text", "a"},
	}
	for expression, want := range map[string]string{
		"t and t": "true", "t and f": "false", "t and n": "NULL",
		"f and t": "false", "f and f": "false", "f and n": "false",
		"n and t": "NULL", "n and f": "false", "n and n": "NULL",
		"t or t": "true", "t or f": "true", "t or n": "true",
		"f or t": "true", "f or f": "false", "f or n": "NULL",
		"n or t": "true", "n or f": "NULL", "n or n": "NULL",
		"not t": "false", "not f": "true", "not n": "NULL",
		"t == n": "NULL", "f != n": "NULL", "n == n": "NULL", "n != n": "NULL",
		"nil and f": "false", "nil or t": "true", "nil and t": "NULL", "not (nil and t)": "NULL",
		"t && !n": "NULL", "n || t": "true",

		"x == nil": "true", "x != nil": "false", "nil == x": "true", "nil != x": "false", "y == nil": "false",
		"y != nil": "true", "nil == nil": "true", "nil != nil": "false", "n == nil": "true",
		"(x + 1) == nil": "true", "(y + 1) == nil": "false", "lower(s) == nil": "true", "(t and n) == nil": "true",
		"-r == nil": "true", "date(d) == nil": "true", "uuid(u) == nil": "true", "(x < 1) == nil": "true",

		"x == x": "NULL", "x != x": "NULL", "x < 1": "NULL", "x <= 1": "NULL", "x > 1": "NULL", "x >= 1": "NULL",
		"1 == x": "NULL", "x == y": "NULL", "y < x": "NULL", "x == r": "NULL", "y == r": "NULL", "r == r": "NULL",
		"s == s": "NULL", "s == 'a'": "NULL", "d < '2024-01-31'": "NULL", "u == u": "NULL",
		"y < nil": "NULL", "nil <= y": "NULL", "nil < nil": "NULL",
		"not (x == 1)": "NULL", "not (x != 1)": "NULL",

		"x + 1 == 1": "NULL", "1 - x == 1": "NULL", "x * 0 == 0": "NULL", "x / 0 == 1": "NULL", "-x == 1": "NULL",
		"y + nil == 1": "NULL", "nil % y == 1": "NULL", "r * 0 == 0": "NULL", "abs(x) == 1": "NULL", "floor(r) == 1": "NULL",
		"s + 'a' == 'a'": "NULL", "len(s) == 0": "NULL", "s contains 'a'": "NULL", "a contains s": "NULL",
		"s startsWith ''": "NULL", "s not endsWith ''": "NULL", "s matches '.*'": "NULL", "nil contains 'a'": "NULL",
		"s not contains 'a'": "NULL", "int(s) == 1": "NULL", "decimal(nil) == 1": "NULL", "string(x) == '1'": "NULL",

		"x in [1, 2]": "NULL", "x not in [1, 2]": "NULL", "y in [1, nil]": "true", "y in [2, nil]": "NULL",
		"y not in [2, nil]": "NULL", "y not in [1, nil]": "false", "y in [2, x]": "NULL", "nil in [1]": "NULL",
		"y in [x, 1]": "true", "x in 1..2": "NULL", "y in 1..x": "NULL", "y in 2..x": "false", "x in []": "false",
		"s in ['a','b','c','d','e','f','g','h']": "NULL", "a in ['1','2','3','4','5','6','7',nil]": "NULL",

		"(x ?? 1) == 1": "true", "(x ?? x) == 1": "NULL", "(x ?? nil) == nil": "true", "(n ? 1 : 2) == 2": "true",
		"n ? t : f": "false", "t ? n : t": "NULL", "x == nil ? t : x > 1": "true",
		"x != nil and x > 1": "false", "x == nil or x > 1": "true",
	} {
		if got := outcome(t, expression, cells); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}

// Only true passes: where drops what is false and what is NULL.
func TestOnlyTruePasses(t *testing.T) {
	for value, want := range map[any]bool{"true": true, "false": false, nil: false} {
		s, b := record(t, []cell{{"v", "bool", value}})
		f, err := Compile("v", s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.Match(b, 0); got != want || err != nil {
			t.Errorf("%v: got %v, %v; want %v", value, got, err, want)
		}
	}
}

// De Morgan's laws hold in three values.
func TestLogicKeepsDeMorgansLaws(t *testing.T) {
	values := []any{"true", "false", nil}
	for _, a := range values {
		for _, b := range values {
			cells := []cell{{"a", "bool", a}, {"b", "bool", b}}
			for _, pair := range [][2]string{
				{"not (a and b)", "not a or not b"},
				{"not (a or b)", "not a and not b"},
				{"a and b", "b and a"},
				{"a or b", "b or a"},
			} {
				l, r := outcome(t, pair[0], cells), outcome(t, pair[1], cells)
				if l != r {
					t.Errorf("a=%v b=%v: %s is %s, %s is %s", a, b, pair[0], l, pair[1], r)
				}
			}
		}
	}
}
