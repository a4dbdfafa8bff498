package mysql

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
)

// typeCase is a column, what it is filled with as SQL, and what is read of it.
type typeCase struct {
	declared string
	typ      string
	fill     []string
	want     []string
}

func typeCases() []typeCase {
	return []typeCase{
		{"tinyint", "int8", []string{"-128", "127"}, []string{"-128", "127"}},
		{"tinyint unsigned", "uint8", []string{"0", "255"}, []string{"0", "255"}},
		{"smallint", "int16", []string{"-32768", "32767"}, []string{"-32768", "32767"}},
		{"smallint unsigned zerofill", "uint16", []string{"7", "65535"}, []string{"7", "65535"}},
		{"mediumint", "int32", []string{"-8388608", "8388607"}, []string{"-8388608", "8388607"}},
		{"mediumint unsigned", "uint32", []string{"16777215"}, []string{"16777215"}},
		{"int", "int32", []string{"-2147483648", "2147483647"}, []string{"-2147483648", "2147483647"}},
		{"int(4) zerofill", "uint32", []string{"7", "4294967295"}, []string{"7", "4294967295"}},
		{"bigint", "int64", []string{"-9223372036854775808", "9223372036854775807"}, []string{"-9223372036854775808", "9223372036854775807"}},
		{"bigint unsigned", "uint64", []string{"0", "18446744073709551615"}, []string{"0", "18446744073709551615"}},
		{"boolean", "bool", []string{"false", "true"}, []string{"false", "true"}},
		{"tinyint(1) unsigned", "uint8", []string{"2"}, []string{"2"}},
		{"bit(1)", "bool", []string{"b'0'", "b'1'"}, []string{"false", "true"}},
		{"bit(8)", "bit(8)", []string{"b'101'", "255"}, []string{"00000101", "11111111"}},
		{"bit(10)", "bit(10)", []string{"b'1000000001'"}, []string{"1000000001"}},
		{"bit(64)", "bit(64)", []string{"0", "18446744073709551615"}, []string{strings.Repeat("0", 64), strings.Repeat("1", 64)}},
		{"year", "int16", []string{"1901", "2155", "0"}, []string{"1901", "2155", "0"}},
		{
			"decimal(65,30)", "decimal(65,30)",
			[]string{"-99999999999999999999999999999999999.999999999999999999999999999999", "0.1", "0"},
			[]string{"-99999999999999999999999999999999999.999999999999999999999999999999", "0.100000000000000000000000000000", "0.000000000000000000000000000000"},
		},
		{"decimal(10,3) zerofill", "decimal(10,3)", []string{"1.5", "0"}, []string{"1.500", "0.000"}},
		{"decimal(30,0)", "decimal(30,0)", []string{"123456789012345678901234567890"}, []string{"123456789012345678901234567890"}},
		{"decimal(10,2)", "decimal(10,2)", []string{"7.1"}, []string{"7.10"}},
		{
			"float", "float32",
			[]string{"0.1", "16777217", "3.402823466e38", "1.17549435e-38", "1e-45", "0", "1234567"},
			[]string{"0.1", "1.6777216e+07", "3.4028235e+38", "1.1754944e-38", "1e-45", "0", "1.234567e+06"},
		},
		{"float(7,3)", "float32", []string{"1.2345"}, []string{"1.234"}},
		{
			"double", "float64",
			[]string{"0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072014e-308", "1e22", "123456789.123456789"},
			[]string{"0.1", "1.7976931348623157e+308", "5e-324", "2.2250738585072014e-308", "1e+22", "123456789.12345679"},
		},
		{"double(10,2)", "float64", []string{"1.1"}, []string{"1.1"}},
		{"date", "date", []string{"'0001-01-01'", "'9999-12-31'", "'0000-00-00'", "'1969-07-20'"}, []string{"0001-01-01", "9999-12-31", "0000-00-00", "1969-07-20"}},
		{"datetime", "timestamp(0)", []string{"'2024-03-10 02:30:00'", "0"}, []string{"2024-03-10 02:30:00", "0000-00-00 00:00:00"}},
		{
			"datetime(6)", "timestamp(6)",
			[]string{"'1000-01-01 00:00:00.000001'", "'9999-12-31 23:59:59.999999'", "'2024-01-31 13:05:00.1'", "0"},
			[]string{"1000-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999", "2024-01-31 13:05:00.1", "0000-00-00 00:00:00"},
		},
		{"datetime(3)", "timestamp(3)", []string{"'2024-01-31 13:05:00.120'"}, []string{"2024-01-31 13:05:00.12"}},
		{
			"timestamp(6) null", "instant(6)",
			[]string{"'1970-01-01 00:00:01'", "'2038-01-19 03:14:07.999999'", "0"},
			[]string{"1970-01-01 00:00:01+00", "2038-01-19 03:14:07.999999+00", "0000-00-00 00:00:00+00"},
		},
		{"time", "time(0)", []string{"'-838:59:59'", "'838:59:59'", "'08:00:00'"}, []string{"-838:59:59", "838:59:59", "08:00:00"}},
		{"time(6)", "time(6)", []string{"'-00:00:00.5'", "'123:00:00.000010'", "0"}, []string{"-00:00:00.5", "123:00:00.00001", "00:00:00"}},
		{"char(10) character set latin1", "text(10)", []string{"'é '", "''"}, []string{"é", ""}},
		{"varchar(20) collate utf8mb4_bin", "text(20)", []string{"'😀 '", "''", "'a\\tb\\n\\\\'"}, []string{"😀 ", "", "a\tb\n\\"}},
		{"varchar(9) character set gbk", "text(9)", []string{"'中文'"}, []string{"中文"}},
		{"varchar(9) character set ucs2", "text(9)", []string{"'中é'"}, []string{"中é"}},
		{"tinytext", "text", []string{"'t'"}, []string{"t"}},
		{"longtext character set utf8mb4", "text", []string{"'ł'"}, []string{"ł"}},
		{"binary(4)", "bytes(4)", []string{"x'ff00'", "x''"}, []string{"\xff\x00\x00\x00", "\x00\x00\x00\x00"}},
		{"varbinary(20)", "bytes(20)", []string{"x'00ff5c27'", "''"}, []string{"\x00\xff\\'", ""}},
		{"longblob", "bytes", []string{"x'80'"}, []string{"\x80"}},
		{"enum('a','b,''c','ü') character set latin1", "enum('a','b,''c','ü')", []string{"'b,''c'", "3", "'a'"}, []string{"b,'c", "ü", "a"}},
		{"set('x','y')", "set('x','y')", []string{"'y,x'", "''"}, []string{"x,y", ""}},
		{"json", "json", []string{`'{"b": [1, 1.50]}'`, `'"x"'`}, []string{`{"b": [1, 1.50]}`, `"x"`}},
		{"uuid", "uuid", []string{"'F47AC10B-58CC-4372-A567-0E02B2C3D479'"}, []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479"}},
		{"inet6", "inet6", []string{"'2001:db8::ff00:42:8329'"}, []string{"2001:db8::ff00:42:8329"}},
		{"inet4", "inet4", []string{"'192.168.0.1'"}, []string{"192.168.0.1"}},
		{
			"point", "bytes",
			[]string{"ST_PointFromText('POINT(1 2)', 4326)"},
			[]string{"\xe6\x10\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40"},
		},
		{"int as (id + 1) virtual", "int32", []string{"default"}, []string{"2"}},
	}
}

// Each type's values, the least and the greatest among them, are read as they
// are, whatever the server's defaults.
func TestEveryTypeIsReadExactly(t *testing.T) {
	r := newSourceRig(t, "SELECT 1")
	for i, c := range typeCases() {
		table := "t" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		var statements strings.Builder
		statements.WriteString("SET sql_mode = ''; CREATE TABLE " + table + " (id int PRIMARY KEY, v " + c.declared + ");")
		for j, v := range c.fill {
			statements.WriteString("INSERT INTO " + table + " (id, v) VALUES (" + string(rune('1'+j)) + ", " + v + ");")
		}
		if c.fill[0] != "default" {
			statements.WriteString("INSERT INTO " + table + " VALUES (99, NULL);")
			c.want = append(c.want, "NULL")
		}
		r.maria.Exec(t, r.url, "SET time_zone = '+00:00';"+statements.String())
		s := r.source(map[string]any{"table": table}, connector.SourceEnv{Columns: []string{"v"}})
		if got := typesOf(t, s); got != "v "+c.typ {
			t.Errorf("%s: the type is %s, want %s", c.declared, got, c.typ)
		}
		rows, rejects := readAll(t, s, connector.Want{})
		if got, want := strings.Join(rows, "\n"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s: read\n%q, want\n%q", c.declared, got, want)
		}
		for _, rj := range rejects {
			t.Errorf("%s: rejected: %+v", c.declared, rj)
		}
		canonical := must(value.Canonical(must(s.Schema(t.Context()))(t).Fields[0].Type))(t)
		for _, row := range rows {
			if row == "NULL" {
				continue
			}
			if again, err := canonical(nil, []byte(row)); err != nil || string(again) != row {
				t.Errorf("%s: %q is not canonical, but %q (%v)", c.declared, row, again, err)
			}
		}
	}
}
