package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/testenv"
)

// newMySQLSource is a scene with PostgreSQL as its target and a database of
// MariaDB as its source, {my} in jobs.
func newMySQLSource(t *testing.T, mysql, postgres string) (s *scene, job func(text string) string) {
	t.Helper()
	s = newPostgres(t, postgres)
	maria := testenv.MariaDB(t)
	url := maria.Database(t)
	maria.Exec(t, url, "SET sql_mode = ''; SET time_zone = '+08:00'; "+mysql)
	return s, func(text string) string { return strings.ReplaceAll(text, "{my}", fmt.Sprintf("%q", url)) }
}

// Each type of MySQL has one in PostgreSQL that keeps its values, and the
// target is made with it: nothing is narrowed, shifted by a zone or rounded.
func TestMySQLTypesMakeATableOfPostgreSQL(t *testing.T) {
	cases := []struct{ declared, value, made, want string }{
		{"bigint unsigned", "18446744073709551615", "numeric", "18446744073709551615"},
		{"decimal(38,10)", "1234567890123456789012345678.0000000001", "numeric", "1234567890123456789012345678.0000000001"},
		{"decimal(10,2)", "7.1", "numeric", "7.10"},
		{"tinyint(1)", "1", "boolean", "t"},
		{"bit(1)", "b'0'", "boolean", "f"},
		{"bit(8)", "b'101'", "bit", "00000101"},
		{"bit(64)", "18446744073709551615", "bit", strings.Repeat("1", 64)},
		{"year", "2024", "smallint", "2024"},
		{"float", "0.1", "real", "0.1"},
		{"datetime(6)", "'2024-03-10 02:30:00.000001'", "timestamp without time zone", "2024-03-10 02:30:00.000001"},
		{"timestamp", "'2024-03-10 02:30:00'", "timestamp with time zone", "2024-03-09 18:30:00+00"},
		{"date", "'1969-07-20'", "date", "1969-07-20"},
		{"time(3)", "'23:59:59.5'", "time without time zone", "23:59:59.5"},
		{"json", `'"x"'`, "json", `"x"`},
		{"enum('a','b,''c')", "2", "text", "b,'c"},
		{"set('x','y')", "3", "text", "x,y"},
		{"char(5)", "'é '", "character varying", "é"},
		{"varchar(5) character set gbk", "'中'", "character varying", "中"},
		{"text", "'😀'", "text", "😀"},
		{"binary(3)", "x'01'", "bytea", `\x010000`},
		{"blob", "''", "bytea", `\x`},
		{"int", "NULL", "integer", "NULL"},
		{"uuid", "'F47AC10B-58CC-4372-A567-0E02B2C3D479'", "uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
	}
	var columns, values []string
	for i, c := range cases {
		columns = append(columns, fmt.Sprintf("c%d %s NULL", i, c.declared))
		values = append(values, c.value)
	}
	s, job := newMySQLSource(t, fmt.Sprintf("CREATE TABLE t (%s); INSERT INTO t VALUES (%s)", strings.Join(columns, ", "), strings.Join(values, ", ")), "")
	s.copied(1, job("name: j\nsource: {mysql: {url: {my}, table: t}}\nsink: {postgres: {url: {pg}, table: t}}\n"))
	for i, c := range cases {
		t.Run(c.declared, func(t *testing.T) {
			s := s.in(t)
			s.expect(fmt.Sprintf("SELECT data_type FROM information_schema.columns WHERE table_name = 't' AND column_name = 'c%d'", i), c.made)
			s.expect(fmt.Sprintf("SET timezone = 'UTC'; SELECT c%d FROM t", i), c.want)
		})
	}
}

// What a column of the target cannot hold is a dirty record, and never another
// value; what it can hold is converted.
func TestMySQLValuesInOtherTypes(t *testing.T) {
	s, job := newMySQLSource(t, `CREATE TABLE t (id int PRIMARY KEY, u bigint unsigned, b bit(8), j json, d date, x binary(16));
INSERT INTO t VALUES (1, 9223372036854775807, b'101', '{"a": 1.50}', '2024-01-31', x'f47ac10b58cc4372a5670e02b2c3d479'),
 (2, 18446744073709551615, 0, NULL, NULL, NULL), (3, 1, 0, NULL, '0000-00-00', NULL), (4, 1, 0, NULL, '2024-00-00', NULL)`,
		"CREATE TABLE t (id int, u bigint, b int, j jsonb, d date, x bytea)")
	sum := s.done(job("name: j\nsource: {mysql: {url: {my}, table: t}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 9}\n"))
	if sum.State != jobmaster.DoneWithDirty || sum.Read != 4 || sum.Dirty != 3 || sum.Written != 1 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT * FROM t", `1|9223372036854775807|5|{"a": 1.50}|2024-01-31|\xf47ac10b58cc4372a5670e02b2c3d479`)
}
