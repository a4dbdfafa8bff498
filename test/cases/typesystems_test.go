package cases

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/leatdata/leat/internal/testenv"
)

// typesSetup makes the types of PostgreSQL's table that are not built in.
const typesSetup = "CREATE TYPE mood AS ENUM ('sad', 'so glad'); CREATE DOMAIN price AS numeric(10,2)"

// typeSystems are all that the table of types compares.
func typeSystems() []*typeSystem {
	return []*typeSystem{csvTypes(), jsonlTypes(), parquetTypes(), postgresTypes(), mysqlTypes(), sqliteTypes()}
}

func postgresTypes() *typeSystem {
	y := &typeSystem{name: "postgres", note: "A table's declared types. Values are written as SQL has them."}
	y.columns = []typeColumn{
		{"boolean", []string{"true", "false"}},
		{"smallint", []string{"-32768", "32767"}},
		{"integer", []string{"-2147483648", "2147483647"}},
		{"bigint", []string{"-9223372036854775808", "9223372036854775807"}},
		{"oid", []string{"4294967295"}},
		{"real", []string{"3.4028235e38", "1e-45", "-0", "NaN", "-Infinity"}},
		{"double precision", []string{"1.7976931348623157e308", "5e-324", "0.1", "-0", "NaN", "Infinity"}},
		{"numeric", []string{"12345678901234567890.50", "-0.000000000000000000001", "NaN", "Infinity"}},
		{"numeric(15,2)", []string{"7.10", "-9999999999999.99", "NaN"}},
		{"numeric(40,10)", []string{"123456789012345678901234567890.0123456789"}},
		{"price", []string{"1.50"}},
		{"text", []string{"ünïcödé 😀", "", `a"b,c\d`, "tab\tand\nline", "NULL"}},
		{"character varying(10)", []string{"Žluťoučký"}},
		{"character(4)", []string{"ab"}},
		{"bytea", []string{`\x00ff5c`, `\x`}},
		{"date", []string{"2024-02-29", "1969-07-20", "0044-03-15 BC", "10000-01-01", "infinity"}},
		{"time", []string{"23:59:59.999999", "00:00:00", "24:00:00"}},
		{"time with time zone", []string{"12:00:00.5+05:30", "00:00:00-15:59:59"}},
		{"timestamp", []string{"2024-03-10 02:30:00", "1969-12-31 23:59:59.5", "0044-03-15 10:00:00 BC", "294276-12-31 23:59:59.999999", "-infinity"}},
		{"timestamp with time zone", []string{"2024-03-10 02:30:00+05:30", "1969-12-31 23:59:59.5+00", "9999-12-31 23:59:59.999999+00", "infinity"}},
		{"interval", []string{"1 year 2 mons -3 days 04:05:06.789", "00:00:00"}},
		{"uuid", []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479"}},
		{"json", []string{`{"b": 1,  "a": [1.0, null]}`, `"x"`, "null"}},
		{"jsonb", []string{`{"b": 1, "a": [1.0, null]}`, `"x"`}},
		{"bit(3)", []string{"101"}},
		{"bit varying", []string{"0101010101", ""}},
		{"mood", []string{"so glad"}},
		{"integer[]", []string{"{1,NULL,-3}", "{}", "{{1,2},{3,4}}"}},
		{"text[]", []string{`{"",NULL,"a\"b\\c",x}`}},
		{"inet", []string{"10.0.0.1/8"}},
		{"int4range", []string{"[1,5)"}},
	}
	y.fill = func(s *scene, table string, rows []typeRow) {
		var sql strings.Builder
		fmt.Fprintf(&sql, "CREATE TABLE %s (n int PRIMARY KEY%s)", table, declared(y.columns))
		for _, r := range rows {
			if r.value == "" && isNullRow(y, r) {
				fmt.Fprintf(&sql, "; INSERT INTO %s (n) VALUES (%d)", table, r.n)
				continue
			}
			fmt.Fprintf(&sql, "; INSERT INTO %s (n, c%d) VALUES (%d, '%s')", table, r.column, r.n, strings.ReplaceAll(r.value, "'", "''"))
		}
		s.exec(sql.String())
	}
	y.sink = func(table string) string { return "postgres: {url: {pg}, table: " + table + "}" }
	y.source = func(table string, _ map[string]string) string { return y.sink(table) }
	y.told = func(s *scene, table string) map[string]string {
		return pairsOf(s.rows("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '" + table + "'::regclass AND attnum > 0"))
	}
	return y
}

func mysqlTypes() *typeSystem {
	y := &typeSystem{name: "mysql", note: "A table's declared types, of MariaDB 10.11. Values are written as SQL has them."}
	y.columns = []typeColumn{
		{"boolean", []string{"true", "false"}},
		{"tinyint", []string{"-128", "127"}},
		{"tinyint unsigned", []string{"255"}},
		{"smallint", []string{"-32768", "32767"}},
		{"smallint unsigned", []string{"65535"}},
		{"mediumint", []string{"-8388608", "8388607"}},
		{"mediumint unsigned", []string{"16777215"}},
		{"int", []string{"-2147483648", "2147483647"}},
		{"int unsigned", []string{"4294967295"}},
		{"bigint", []string{"-9223372036854775808", "9223372036854775807"}},
		{"bigint unsigned", []string{"18446744073709551615"}},
		{"float", []string{"3.4028234663852886e38", "1.1754943508222875e-38", "16777216"}},
		{"double", []string{"1.7976931348623157e308", "0.1", "2.2250738585072014e-308"}},
		{"decimal(15,2)", []string{"7.10", "-9999999999999.99"}},
		{"decimal(65,30)", []string{"12345678901234567890123456789012345.123456789012345678901234567890"}},
		{"bit(1)", []string{"b'1'", "b'0'"}},
		{"bit(8)", []string{"b'00000101'"}},
		{"bit(64)", []string{"b'1111111111111111111111111111111111111111111111111111111111111111'"}},
		{"year", []string{"2024", "0000", "1901"}},
		{"date", []string{"'2024-02-29'", "'1969-07-20'", "'9999-12-31'", "'0000-00-00'"}},
		{"time(6)", []string{"'23:59:59.999999'", "'838:59:59'", "'-12:30:00.5'"}},
		{"datetime(6)", []string{"'2024-03-10 02:30:00'", "'1969-12-31 23:59:59.5'", "'0000-00-00 00:00:00'"}},
		{"timestamp(6) NULL", []string{"'2024-03-10 02:30:00'", "'2038-01-19 03:14:07.999999'"}},
		{"char(4)", []string{"'ab'"}},
		{"varchar(10)", []string{"'Žluťoučký'", "''"}},
		{"text", []string{"'ünïcödé 😀'", `'a"b,c\\d'`, "'NULL'", `'tab\tand\nline'`}},
		{"text CHARACTER SET latin1", []string{"'Müller'"}},
		{"binary(4)", []string{"x'00ff5c00'"}},
		{"varbinary(10)", []string{"x'00ff5c'", "x''"}},
		{"blob", []string{"x'00ff5c27220a0d'"}},
		{"enum('sad','so glad')", []string{"'so glad'"}},
		{"set('a','b','c')", []string{"'a,c'", "''"}},
		{"json", []string{`'{"b": 1,  "a": [1.0, null]}'`, `'"x"'`}},
		{"uuid", []string{"'f47ac10b-58cc-4372-a567-0e02b2c3d479'"}},
		{"inet6", []string{"'2001:db8::1'"}},
		{"point", []string{"ST_GeomFromText('POINT(1 2)', 4326)"}},
	}
	y.fill = func(s *scene, table string, rows []typeRow) {
		var sql strings.Builder
		fmt.Fprintf(&sql, "CREATE TABLE %s (n int PRIMARY KEY%s) DEFAULT CHARACTER SET utf8mb4", table, declared(y.columns))
		for _, r := range rows {
			if r.value == "" {
				fmt.Fprintf(&sql, "; INSERT INTO %s (n) VALUES (%d)", table, r.n)
				continue
			}
			fmt.Fprintf(&sql, "; INSERT INTO %s (n, c%d) VALUES (%d, %s)", table, r.column, r.n, r.value)
		}
		testenv.MariaDB(s.t).Exec(s.t, s.my, sql.String())
	}
	y.sink = func(table string) string { return "mysql: {url: {my}, table: " + table + "}" }
	y.source = func(table string, _ map[string]string) string { return y.sink(table) }
	y.told = func(s *scene, table string) map[string]string {
		return pairsOf(testenv.MariaDB(s.t).Lines(s.t, s.my, "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '"+table+"'"))
	}
	return y
}

func sqliteTypes() *typeSystem {
	y := &typeSystem{name: "sqlite", note: "A table's declared types. Values are written as SQL has them."}
	y.columns = []typeColumn{
		{"INTEGER", []string{"-9223372036854775808", "9223372036854775807"}},
		{"REAL", []string{"1.7976931348623157e308", "5e-324", "0.1", "9e999"}},
		{"TEXT", []string{"'ünïcödé 😀'", "''", `'a"b,c\d'`, "'NULL'"}},
		{"BLOB", []string{"x'00ff5c'", "x''"}},
		{"BOOLEAN", []string{"1", "0"}},
		{"DECIMAL(10,2)", []string{"'7.10'", "'-99999999.99'"}},
		{"DATE", []string{"'2024-02-29'", "'1969-07-20'"}},
		{"TIME", []string{"'23:59:59.999999'"}},
		{"DATETIME", []string{"'2024-03-10 02:30:00'", "'1969-12-31 23:59:59.5'"}},
		{"TIMESTAMPTZ", []string{"'2024-03-09 21:00:00+00'"}},
		{"UUID", []string{"'f47ac10b-58cc-4372-a567-0e02b2c3d479'"}},
		{"JSON", []string{`'{"b": 1,  "a": [1.0, null]}'`}},
	}
	y.fill = func(s *scene, table string, rows []typeRow) {
		var sql strings.Builder
		fmt.Fprintf(&sql, "CREATE TABLE %s (n INTEGER PRIMARY KEY%s)", table, declared(y.columns))
		for _, r := range rows {
			if r.value == "" {
				fmt.Fprintf(&sql, "; INSERT INTO %s (n) VALUES (%d)", table, r.n)
				continue
			}
			fmt.Fprintf(&sql, "; INSERT INTO %s (n, c%d) VALUES (%d, %s)", table, r.column, r.n, r.value)
		}
		s.liteExec(table+".db", sql.String())
	}
	y.sink = func(table string) string {
		return fmt.Sprintf(`sqlite: {path: "{dir}/%s.db", table: %s}`, table, table)
	}
	y.source = func(table string, _ map[string]string) string { return y.sink(table) }
	y.told = func(s *scene, table string) map[string]string {
		return pairsOf(s.lite(table+".db", "SELECT name, type FROM pragma_table_info('"+table+"')"))
	}
	return y
}

// textColumns are the types that columns of text files are declared to have.
func textColumns() []typeColumn {
	return []typeColumn{
		{"bool", []string{"true", "false"}},
		{"int8", []string{"-128", "127"}},
		{"int16", []string{"-32768", "32767"}},
		{"int32", []string{"-2147483648", "2147483647"}},
		{"int64", []string{"-9223372036854775808", "9223372036854775807"}},
		{"uint8", []string{"255"}},
		{"uint16", []string{"65535"}},
		{"uint32", []string{"4294967295"}},
		{"uint64", []string{"18446744073709551615"}},
		{"float32", []string{"3.4028235e+38", "NaN"}},
		{"float64", []string{"1.7976931348623157e+308", "0.1", "-0", "Infinity"}},
		{"decimal", []string{"12345678901234567890.50", "-0.000000000000000000001"}},
		{"decimal(15,2)", []string{"7.10", "-9999999999999.99"}},
		{"decimal(65,30)", []string{"12345678901234567890123456789012345.123456789012345678901234567890"}},
		{"text", []string{"ünïcödé 😀", `a"b,c\d`, "NULL"}},
		{"text(10)", []string{"Žluťoučký"}},
		{"bytes", []string{`\x00ff5c`}},
		{"date", []string{"2024-02-29", "1969-07-20", "0044-03-15 BC", "0000-00-00", "infinity"}},
		{"time", []string{"23:59:59.999999", "838:59:59", "-12:30:00"}},
		{"timetz", []string{"12:00:00.5+05:30"}},
		{"timestamp", []string{"2024-03-10 02:30:00", "1969-12-31 23:59:59.5", "0000-00-00 00:00:00"}},
		{"instant", []string{"2024-03-09 21:00:00+00", "9999-12-31 23:59:59.999999+00"}},
		{"interval", []string{"P1Y2M-3DT4H5M6.789S"}},
		{"uuid", []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479"}},
		{"json", []string{`{"b": 1,  "a": [1.0, null]}`, `"x"`}},
		{"bit(3)", []string{"101"}},
		{"array of int32", []string{"{1,NULL,-3}"}},
	}
}

// declaredTypes is the option types of a text file.
func declaredTypes(types map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		list = append(list, fmt.Sprintf("%s: %q", name, types[name]))
	}
	return "types: {" + strings.Join(list, ", ") + "}"
}

func csvTypes() *typeSystem {
	y := &typeSystem{name: "csv", note: "A file has no types of its own: these are declared by the option `types`.", columns: textColumns()}
	y.fill = func(s *scene, table string, rows []typeRow) {
		var text strings.Builder
		w := csv.NewWriter(&text)
		head := []string{"n"}
		for i := range y.columns {
			head = append(head, fmt.Sprintf("c%d", i))
		}
		_ = w.Write(head)
		for _, r := range rows {
			row := make([]string, len(head))
			row[0], row[r.column+1] = fmt.Sprint(r.n), r.value
			_ = w.Write(row)
		}
		w.Flush()
		s.write(table+".csv", text.String())
	}
	y.source = func(table string, types map[string]string) string {
		return fmt.Sprintf(`csv: {path: "{dir}/%s.csv", %s}`, table, declaredTypes(types))
	}
	y.sink = func(table string) string { return fmt.Sprintf(`csv: {path: "{dir}/%s.csv"}`, table) }
	y.untyped, y.text = true, true
	y.told = func(s *scene, table string) map[string]string {
		rows, err := csv.NewReader(strings.NewReader(s.text(table + ".csv"))).ReadAll()
		if err != nil {
			s.t.Fatal(err)
		}
		return firstValues(rows[0], rows[1:])
	}
	return y
}

func jsonlTypes() *typeSystem {
	y := &typeSystem{name: "jsonl", note: "A file's values are numbers, texts and so on; these types are declared by the option `types`."}
	for _, c := range textColumns() {
		for i, v := range c.values {
			c.values[i] = asJSON(c.native, v)
		}
		y.columns = append(y.columns, c)
	}
	y.fill = func(s *scene, table string, rows []typeRow) {
		var text strings.Builder
		for _, r := range rows {
			fmt.Fprintf(&text, `{"n": %d`, r.n)
			for i := range y.columns {
				value := "null"
				if i == r.column && r.value != "" {
					value = r.value
				}
				fmt.Fprintf(&text, `, "c%d": %s`, i, value)
			}
			text.WriteString("}\n")
		}
		if len(rows) == 0 {
			return
		}
		s.write(table+".jsonl", text.String())
	}
	y.source = func(table string, types map[string]string) string {
		return fmt.Sprintf(`jsonl: {path: "{dir}/%s.jsonl", %s}`, table, declaredTypes(types))
	}
	y.sink = func(table string) string { return fmt.Sprintf(`jsonl: {path: "{dir}/%s.jsonl"}`, table) }
	y.untyped, y.text = true, true
	y.told = func(s *scene, table string) map[string]string {
		told := map[string]string{}
		lines := bufio.NewScanner(strings.NewReader(s.text(table + ".jsonl")))
		for lines.Scan() {
			var row map[string]json.RawMessage
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				s.t.Fatal(err)
			}
			for name, v := range row {
				if _, known := told[name]; !known && string(v) != "null" {
					told[name] = string(v)
				}
			}
		}
		return told
	}
	return y
}

func parquetTypes() *typeSystem {
	y := &typeSystem{name: "parquet", note: "The types of a file's columns, as Leat reads them.", untyped: true}
	y.columns = []typeColumn{
		{"bool", []string{"true", "false"}},
		{"int8", []string{"-128", "127"}},
		{"int16", []string{"-32768", "32767"}},
		{"int32", []string{"-2147483648", "2147483647"}},
		{"int64", []string{"-9223372036854775808", "9223372036854775807"}},
		{"uint8", []string{"255"}},
		{"uint16", []string{"65535"}},
		{"uint32", []string{"4294967295"}},
		{"uint64", []string{"18446744073709551615"}},
		{"float32", []string{"3.4028235e+38", "NaN", "-0"}},
		{"float64", []string{"1.7976931348623157e+308", "0.1", "-0", "Infinity"}},
		{"decimal(9,2)", []string{"7.10", "-9999999.99"}},
		{"decimal(15,2)", []string{"7.10", "-9999999999999.99"}},
		{"decimal(38,10)", []string{"1234567890123456789012345678.0123456789"}},
		{"text", []string{"ünïcödé 😀", `a"b,c\d`, "NULL"}},
		{"bytes", []string{`\x00ff5c`}},
		{"date", []string{"2024-02-29", "1969-07-20", "9999-12-31"}},
		{"time(6)", []string{"23:59:59.999999"}},
		{"timestamp(6)", []string{"2024-03-10 02:30:00", "1969-12-31 23:59:59.5"}},
		{"timestamp(9)", []string{"2024-01-01 00:00:00.123456789", "2024-01-01 00:00:00.123456"}},
		{"instant(6)", []string{"2024-03-09 21:00:00+00", "9999-12-31 23:59:59.999999+00"}},
		{"uuid", []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479"}},
		{"json", []string{`{"b": 1,  "a": [1.0, null]}`, `"x"`}},
	}
	text := csvTypes()
	text.columns = y.columns
	y.sink = func(table string) string { return fmt.Sprintf(`parquet: {path: "{dir}/%s.parquet"}`, table) }
	y.source = func(table string, _ map[string]string) string { return y.sink(table) }
	y.fill = func(s *scene, table string, rows []typeRow) {
		text.fill(s, table+".made", rows)
		s.done("name: make\nsource: {" + text.source(table+".made", y.types(nil)) + "}\nsink: {" + y.sink(table) + "}\n")
	}
	y.told = func(s *scene, table string) map[string]string {
		told := map[string]string{}
		for _, row := range testenv.NewDuckDB(s.t).Query(s.t, "SELECT name, type, coalesce(logical_type, '') FROM parquet_schema('"+s.path(table+".parquet")+"')") {
			if told[*row[0]] = logicalType(*row[2]); *row[2] == "" && row[1] != nil {
				told[*row[0]] = *row[1]
			}
		}
		return told
	}
	return y
}

// logicalType writes a logical type, as DuckDB tells of it, as Parquet's own
// description does.
func logicalType(told string) string {
	name, parameters, _ := strings.Cut(told, "Type(")
	name = strings.ToUpper(name)
	unit := regexp.MustCompile(`([A-Z]+)=[A-Z][a-z]+Seconds`).FindStringSubmatch(parameters)
	switch {
	case name == "INT":
		width := strings.TrimPrefix(parameters, "bitWidth=")[0] // as a character
		return fmt.Sprintf("INT(%d, %t)", width, strings.Contains(parameters, "isSigned=1"))
	case name == "DECIMAL":
		var scale, precision int
		_, _ = fmt.Sscanf(parameters, "scale=%d, precision=%d", &scale, &precision)
		return fmt.Sprintf("DECIMAL(%d,%d)", precision, scale)
	case unit != nil:
		return fmt.Sprintf("%s(%s, %t)", name, unit[1], strings.Contains(parameters, "isAdjustedToUTC=1"))
	}
	return name
}

// asJSON writes a declared type's value as a JSON text.
func asJSON(native, value string) string {
	switch {
	case native == "json" || native == "bool":
		return value
	case native == "array of int32":
		return "[1,null,-3]"
	case strings.HasPrefix(native, "int") && native != "interval", strings.HasPrefix(native, "uint"), strings.HasPrefix(native, "decimal"):
		return value
	case strings.HasPrefix(native, "float") && value != "NaN" && value != "Infinity":
		return value
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// declared is the list of columns in a CREATE TABLE, after the first.
func declared(columns []typeColumn) string {
	var list strings.Builder
	for i, c := range columns {
		fmt.Fprintf(&list, ", c%d %s", i, c.native)
	}
	return list.String()
}

// isNullRow tells the row of a column that is all NULL from one of an empty text.
func isNullRow(y *typeSystem, r typeRow) bool {
	rows := y.rows()
	return r.n == len(rows) || rows[r.n].column != r.column
}

// pairsOf makes a map of rows of two cells.
func pairsOf(rows []string) map[string]string {
	pairs := map[string]string{}
	for _, r := range rows {
		name, value, _ := strings.Cut(r, "|")
		pairs[name] = value
	}
	return pairs
}

// firstValues returns the first value of each column that has one.
func firstValues(names []string, rows [][]string) map[string]string {
	first := map[string]string{}
	for i, name := range names {
		for _, r := range rows {
			if r[i] != "" {
				first[name] = r[i]
				break
			}
		}
	}
	return first
}
