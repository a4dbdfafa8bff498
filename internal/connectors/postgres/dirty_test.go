package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// What a column cannot hold exactly is a dirty record, whether our side finds
// it or the server: never rounded, cut, or taken for something else.
func TestDirtyCells(t *testing.T) {
	database, n := testenv.Postgres(t).Database(t), 0
	for typ, cells := range map[string][]string{
		"bool":                      {"", "2", "maybe"},
		"smallint":                  {"", "32768", "1.0", "1e3", "x"},
		"int":                       {"", "2147483648", "-2147483649"},
		"bigint":                    {"", "9223372036854775808", "18446744073709551615"},
		"oid":                       {"-1", "4294967296"},
		"real":                      {"", "1e39", "1e-60", "x"},
		"double precision":          {"1e309", "1e-400"},
		"numeric":                   {"", "1.2.3", "0x10", strings.Repeat("1", 131073), "0." + strings.Repeat("1", 16384)},
		"numeric(5,2)":              {"1.005", "1000", "Infinity", "99999.99"},
		"numeric(5,-2)":             {"12345", "10000000"},
		"varchar(3)":                {"abcd", "abc ", "ääää", "a\x00", "\xff"},
		"char(3)":                   {"abcd", "\xc3"},
		"text":                      {"a\x00b", "\xed\xa0\x80"},
		"name":                      {strings.Repeat("n", 64)},
		`"char"`:                    {"ab", "ä"},
		"uuid":                      {"", "f47ac10b-58cc-4372-a567-0e02b2c3d47", "g47ac10b-58cc-4372-a567-0e02b2c3d479"},
		"date":                      {"", "2023-02-30", "0000-00-00", "4714-11-23 BC", "5874898-01-01", "2024-01-01 10:00"},
		"time":                      {"24:00:01", "-01:00:00", "25:00:00", "12:00:00.1234567"},
		"time(0)":                   {"12:00:00.5"},
		"timetz":                    {"12:00:00", "12:00:00+17:00"},
		"timestamp":                 {"2024-01-01 00:00:00+01", "294277-01-01 00:00:00", "2024-01-01 00:00:00.0000001"},
		"timestamp(3)":              {"2024-01-01 00:00:00.0001"},
		"timestamptz":               {"2024-01-01 00:00:00", "0000-00-00 00:00:00"},
		"interval":                  {"", "infinity", "P1X"},
		"interval(0)":               {"PT1.5S"},
		"interval year to month":    {"P1D", "PT1H"},
		"interval year":             {"P1M"},
		"interval day to minute":    {"PT1S"},
		"bit(3)":                    {"10", "1011", "12"},
		"varbit(3)":                 {"1011"},
		"json":                      {"", "{", "{'a': 1}"},
		"jsonb":                     {"", "nul", `"\u0000"`},
		"int[]":                     {"", "{1,2", "{a}", "{{1},{2,3}}", "{3000000000}"},
		"varchar(2)[]":              {"{abc}"},
		"mood":                      {"", "Glad", "glad "},
		"price":                     {"-1", "1.005"},
		"mood[]":                    {"{glad,bad}"},
		"int4range":                 {"", "[5,1)"},
		"inet":                      {"10.0.0.256"},
		"numeric(5,2), r int4range": {"1.005"},
	} {
		n++
		schema := fmt.Sprintf("s%d", n)
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			r := newRigIn(t, database, schema, "CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN price AS numeric(10,2) CHECK (value > 0); CREATE TABLE t (id int, v "+typ+")", untyped("id", "v")...)
			var rows []string
			for i, cell := range cells {
				rows = append(rows, fmt.Sprintf("%d|%s", i, cell), fmt.Sprintf("%d|%s", 1000+i, null))
			}
			c := r.load(rows...)
			if c.Dirty != int64(len(cells)) {
				t.Errorf("%d rejected, want %d: %q", c.Dirty, len(cells), r.rejected)
				r.expect("SELECT id, v FROM t WHERE id < 1000")
			}
			for _, reason := range r.rejected {
				if strings.HasSuffix(reason, " : ") {
					t.Errorf("no reason: %q", reason)
				}
			}
			r.expect("SELECT count(*), count(v) FROM t", fmt.Sprintf("%d|0", len(cells)))
		})
	}
}

// Texts that are not canonical and mean one thing only are taken.
func TestCellsTaken(t *testing.T) {
	database, n := testenv.Postgres(t).Database(t), 0
	for typ, c := range map[string]struct{ cell, want string }{
		"bool":          {"yes", "t"},
		"int":           {" +007 ", "7"},
		"numeric":       {"1e3", "1000"},
		"numeric(5,2)":  {"7.1000", "7.10"},
		"numeric(5,-2)": {"12300", "12300"},
		"uuid":          {"{F47AC10B-58CC-4372-A567-0E02B2C3D479}", "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
		"date":          {"2024/1/5", "2024-01-05"},
		"timestamptz":   {"2024-01-01T00:00:00.5+05:30", "2023-12-31 18:30:00.5+00"},
		"text":          {"", ""},
		"int[]":         {"[0:1]={1,NULL}", "[0:1]={1,NULL}"},
		"bytea":         {"", `\x`},
		"jsonb":         {`{"b":1,"a":1.0}`, `{"a": 1.0, "b": 1}`},
	} {
		n++
		schema := fmt.Sprintf("s%d", n)
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			r := newRigIn(t, database, schema, "CREATE TABLE t (v "+typ+")", untyped("v")...)
			if n := r.load(c.cell); n.Written != 1 {
				t.Errorf("rejected: %q", r.rejected)
			}
			r.expect("SET TimeZone = 'UTC'; SELECT v FROM t", c.want)
		})
	}
}
