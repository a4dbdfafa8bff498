package parquet

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/storage"
)

// The files of testdata were written by pyarrow and DuckDB; make.py and
// make.mjs beside them say how.

// readColumns returns a file's columns by name, each with its type before its
// values.
func readColumns(t *testing.T, name string) map[string][]string {
	t.Helper()
	s := newTestSource(t, storage.Local{}, SourceOptions{Path: []string{filepath.Join("testdata", name)}})
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for _, f := range schema.Fields {
		columns[f.Name] = []string{f.Type.String()}
	}
	for _, row := range connectortest.ReadAll(t, s) {
		for i, f := range schema.Fields {
			columns[f.Name] = append(columns[f.Name], row[i])
		}
	}
	return columns
}

func compareColumns(t *testing.T, got, want map[string][]string) {
	t.Helper()
	for name, cells := range want {
		if fmt.Sprintf("%q", got[name]) != fmt.Sprintf("%q", cells) {
			t.Errorf("%s: %q, want %q", name, got[name], cells)
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("column %s was not expected", name)
		}
	}
}

func TestFilesOfPyarrowEveryScalar(t *testing.T) {
	null := connectortest.Null
	want := map[string][]string{
		"b":       {"bool", "true", "false", "true", null},
		"i8":      {"int8", "-128", "127", "0", null},
		"i16":     {"int16", "-32768", "32767", "0", null},
		"i32":     {"int32", "-2147483648", "2147483647", "0", null},
		"i64":     {"int64", "-9223372036854775808", "9223372036854775807", "0", null},
		"u8":      {"uint8", "0", "255", "1", null},
		"u16":     {"uint16", "0", "65535", "1", null},
		"u32":     {"uint32", "0", "4294967295", "1", null},
		"u64":     {"uint64", "0", "18446744073709551615", "1", null},
		"f16":     {"float32", "1.5", "NaN", "-0", null},
		"f32":     {"float32", "1.5", "Infinity", "-0", null},
		"f64":     {"float64", "0.1", "NaN", "-Infinity", null},
		"d9":      {"decimal(9,2)", "1234567.89", "-0.01", "0.00", null},
		"d18":     {"decimal(18,4)", "99999999999999.9999", "-0.0001", "0.0000", null},
		"d38":     {"decimal(38,10)", strings.Repeat("9", 28) + "." + strings.Repeat("9", 10), "-1.0000000001", "0.0000000000", null},
		"d76":     {"decimal(76,0)", strings.Repeat("9", 76), "-1", "0", null},
		"s":       {"text", "", "Žluťoučký 😀", "two\nlines", null},
		"bin":     {"bytes", "", "\x00\xff", "abc", null},
		"fixed":   {"bytes(4)", "abcd", "\x00\x01\x02\x03", "    ", null},
		"u":       {"uuid", "00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000", null},
		"j":       {"json", `{"a": 1}`, "null", `"x"`, null},
		"e":       {"text", "low", "high", "low", null},
		"date":    {"date", "1970-01-01", "2024-01-31", "1969-12-31", null},
		"time_ms": {"time(3)", "00:00:00", "23:59:59.999", "12:00:00.5", null},
		"time_us": {"time(6)", "00:00:00", "23:59:59.999999", "00:00:00.000001", null},
		"time_ns": {"time(9)", "00:00:00", "23:59:59.999999999", "00:00:00.000000001", null},
		"ts_ms":   {"timestamp(3)", "1970-01-01 00:00:00", "2024-01-31 13:05:00.123", "1969-12-31 23:59:59.999", null},
		"ts_us":   {"timestamp(6)", "1970-01-01 00:00:00", "2024-01-31 13:05:00.123456", "1969-12-31 23:59:59.999999", null},
		"ts_ns":   {"timestamp(9)", "1970-01-01 00:00:00", "2024-01-31 13:05:00.123456789", "1969-12-31 23:59:59.999999999", null},
		"in_ms":   {"instant(3)", "1970-01-01 00:00:00+00", "2024-01-31 13:05:00.123+00", "1969-12-31 23:59:59.999+00", null},
		"in_us":   {"instant(6)", "1970-01-01 00:00:00+00", "2024-01-31 13:05:00.123456+00", "1969-12-31 23:59:59.999999+00", null},
		"in_ns":   {"instant(9)", "1970-01-01 00:00:00+00", "2024-01-31 13:05:00.123456789+00", "1969-12-31 23:59:59.999999999+00", null},
	}
	compareColumns(t, readColumns(t, "scalars.parquet"), want)
	compareColumns(t, readColumns(t, "scalars-v2.parquet"), want)
	compareColumns(t, readColumns(t, "int96.parquet"), map[string][]string{"at": want["ts_ns"]})
}

func TestFilesOfPyarrowNestedColumnsAreJSON(t *testing.T) {
	null := connectortest.Null
	want := map[string][]string{
		"l":    {"json", "[1,null,3]", "[]", null, "[4]"},
		"ll":   {"json", `[["a"],[],null]`, `[[null,"q\""]]`, null, "[]"},
		"st":   {"json", `{"x":1,"y":7.10}`, `{"x":null,"y":null}`, null, `{"x":4,"y":-0.01}`},
		"m":    {"json", `{"a":1.5,"b":null}`, "{}", null, `{"k":"NaN"}`},
		"ls":   {"json", `[{"t":"2024-01-31 13:05:00","b":"AP8="},null]`, null, "[]", `[{"t":null,"b":""}]`},
		"deep": {"json", `{"a":{"l":[{"z":1},{"z":null}]}}`, `{"a":{"l":null}}`, `{"a":null}`, null},
	}
	compareColumns(t, readColumns(t, "nested.parquet"), want)
	compareColumns(t, readColumns(t, "nested-v2.parquet"), want)
}

func TestFilesOfPyarrowCompressionsAndEncodings(t *testing.T) {
	null := connectortest.Null
	want := map[string][]string{
		"id": {"int64"}, "small": {"int32"}, "text": {"text"}, "like": {"text"}, "real": {"float64"}, "flag": {"bool"}, "list": {"json"},
	}
	for i := range 3000 {
		add := func(name, cell string) { want[name] = append(want[name], cell) }
		add("id", fmt.Sprint(i))
		add("small", fmt.Sprint(i%7-3))
		if i%5 == 0 {
			add("text", null)
		} else {
			add("text", fmt.Sprint("value ", i*i))
		}
		add("like", fmt.Sprintf("prefix/%d/%d", i/10, i))
		add("real", fmt.Sprint(float64(i)/8))
		add("flag", fmt.Sprint(i%3 == 0))
		if i%6 == 0 {
			add("list", null)
		} else {
			add("list", []string{"[]", "[0]", "[0,1]", "[0,1,2]"}[i%4])
		}
	}
	for _, name := range []string{"codec-none", "codec-snappy", "codec-gzip", "codec-zstd", "codec-lz4", "codec-brotli", "encodings-1.0", "encodings-2.0"} {
		t.Run(name, func(t *testing.T) { compareColumns(t, readColumns(t, name+".parquet"), want) })
	}
	compareColumns(t, readColumns(t, "empty.parquet"), map[string][]string{"id": {"int64"}})
}

func TestFilesOfDuckDB(t *testing.T) {
	null := connectortest.Null
	compareColumns(t, readColumns(t, "duckdb.parquet"), map[string][]string{
		"id": {"int32", "1", "2"},
		"i":  {"interval", "P1Y2M3DT4.005S", null},
		"u":  {"uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479", null},
		"n":  {"uint64", "18446744073709551615", null},
		"t":  {"time(6)", "13:05:00.123456", null},
		"tz": {"instant(6)", "2024-01-31 13:05:00.123456+00", null},
		"ns": {"timestamp(9)", "2024-01-31 13:05:00.123456789", null},
		"e":  {"text", "high", null},
		"b":  {"bytes", "\x00\xff", null},
		"l":  {"json", "[1,null,3]", null},
		"s":  {"json", `{"x":1,"y":"a"}`, null},
		"m":  {"json", `{"k":1.5}`, null},
		"j":  {"json", `{"a": 1}`, null},
		"d":  {"decimal(16,2)", "99999999999999.99", null},
	})
}
