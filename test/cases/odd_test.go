package cases

import "testing"

// Types that few systems share, and the ends of the ranges of those that all do.
func TestOddTypesAreKept(t *testing.T) {
	kept(t,
		column{"intervals", "interval", []string{"'1 year 2 mons -3 days 04:05:06.789'", "'-1 day'", "'0'", "'178000000 years'", "'-00:00:00.000001'"}},
		column{"times", "time", []string{"'24:00:00'", "'00:00:00'", "'23:59:59.999999'"}},
		column{"times with a zone", "timetz", []string{"'24:00:00+05:30'", "'00:00:00-15:59:59'", "'12:00:00.5+00'"}},
		column{"moments", "timestamptz", []string{"'infinity'", "'4713-01-01 00:00 BC'", "'294276-12-31 23:59:59.999999+00'", "'2024-02-29 23:59:59.5+13:45'"}},
		column{"timestamps at the ends", "timestamp", []string{"'4713-01-01 00:00:00 BC'", "'294276-12-31 23:59:59.999999'"}},
		column{"dates at the ends", "date", []string{"'4713-01-01 BC'", "'5874897-12-31'", "'-infinity'"}},
		column{"floats", "double precision", []string{"'Infinity'", "'-Infinity'", "1e308", "5e-324", "0.1", "1e22", "123456789012345680"}},
		column{"short floats", "real", []string{"'-Infinity'", "'Infinity'", "3.4028235e38", "1e-45", "0.1", "16777217"}},
		column{"numerics", "numeric", []string{"'NaN'", "'Infinity'", "'-Infinity'", "1e100", "1e-100", "0.00", "-0.10", "100000000000000000000"}},
		column{"small scale", "numeric(6,-2)", []string{"12300", "-100"}},
		column{"whole numbers at the ends", "bigint", []string{"9223372036854775807", "-9223372036854775808"}},
		column{"padded text", "char(5)", []string{"'a'", "''", "'ab   '", "'日本'"}},
		column{"one character", `"char"`, []string{"'a'", "''"}},
		column{"bits", "varbit", []string{"B''", "B'1'", "B'0101010101'"}},
		column{"bytes", "bytea", []string{`'\x'`, `'\x00ff'`, `'\x5c78'`, `convert_to('\x41','UTF8')`}},
		column{"arrays of bytes", "bytea[]", []string{`ARRAY['\x00'::bytea,'\x','\x5c']`, "'{}'"}},
		column{"arrays of dates", "date[]", []string{"'{2024-01-01,NULL,infinity}'"}},
		column{"arrays of numerics", "numeric(10,2)[]", []string{"'{7.10,NULL,-0.00}'"}},
		column{"arrays of json", "jsonb[]", []string{`ARRAY['{"a": "b,c"}'::jsonb, '"x"', '[1,[2]]', '12.50', NULL]`}},
		column{"arrays of uuid", "uuid[]", []string{"ARRAY['f47ac10b-58cc-4372-a567-0e02b2c3d479'::uuid,NULL]"}},
		column{"arrays of moments", "timestamptz[]", []string{"'{2024-01-01 00:00+05:30,NULL}'"}},
		column{"addresses", "inet", []string{"'10.0.0.1/8'", "'::1'"}},
		column{"ranges", "int4range", []string{"'[1,5)'", "'empty'", "'(,5)'"}},
		column{"ranges of moments", "tstzrange", []string{"'[2024-01-01 00:00+00,2024-01-02 00:00+00)'"}},
		column{"points", "point", []string{"'(1.5,-2)'"}},
		column{"money", "money", []string{"'$1,234.56'", "'-$0.01'"}},
		column{"xml", "xml", []string{"'<a b=\"c\">d</a>'", "''"}},
		column{"words", "tsvector", []string{"'a:1 b:2A ''c d'''"}},
		column{"names", "name", []string{"'é'"}},
		column{"oids", "oid", []string{"4294967295"}},
		column{"a type with its schema", "pg_catalog.int8range", []string{"'[1,2)'"}},
		column{"json texts", "json", []string{`'{"a":1,"a":2}'`, `'1.00'`, `'"\u0000"'`, `'[1,[2,[3]]]'`}},
		column{"jsonb texts", "jsonb", []string{`'{"b":1,"a":1e400}'`, `'1.00'`, `'"é"'`}},
		column{"many kinds of space", "text", []string{"E'\\u00a0'", "E'\\u2028'", "E'\\ufeffx'", "E'\\x01'", "' '", "E'\\x7f'"}},
	)
}
