package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// way is how a value goes from a PostgreSQL table "source" to another one,
// "target".
type way struct {
	name string
	// jobs each take the value one step on.
	jobs []string
}

// ways lead through each connector that can hold any value.
func ways() []way {
	from, to := "source: {postgres: {url: {pg}, table: source}}\n", "sink: {postgres: {url: {pg}, table: target, mode: truncate}}\n"
	through := func(middle, options, written string) way {
		return way{middle, []string{
			"name: out\n" + from + fmt.Sprintf("sink: {%s: {%s}}\n", middle, options+written),
			"name: in\n" + fmt.Sprintf("source: {%s: {%s}}\n", middle, options) + to,
		}}
	}
	return []way{
		{"postgres alone", []string{"name: through\n" + from + to}},
		through("csv", `path: "{dir}/middle.csv"`, ""),
		through("jsonl", `path: "{dir}/middle.jsonl"`, ""),
		through("sqlite", `path: "{dir}/middle.db", table: middle`, ", mode: overwrite"),
	}
}

// column is a case of kept: a type, and values of it as SQL has them.
type column struct {
	name, sqlType string
	literals      []string
}

// kept shows that values come through all ways as they were, into a table of
// the same types: every case is a column of one table.
func kept(t *testing.T, columns ...column) {
	t.Helper()
	var types, cells []string
	rows := 0
	for i, c := range columns {
		types = append(types, fmt.Sprintf("c%d %s", i, c.sqlType))
		rows = max(rows, len(c.literals))
	}
	for r := range rows {
		var row strings.Builder
		row.WriteString(fmt.Sprint(r))
		for _, c := range columns {
			cell := "NULL"
			if r < len(c.literals) {
				cell = c.literals[r]
			}
			row.WriteString(", " + cell)
		}
		cells = append(cells, "("+row.String()+")")
	}
	list := strings.Join(types, ", ")
	s := newPostgres(t, fmt.Sprintf("CREATE TABLE source (n int PRIMARY KEY, %s); CREATE TABLE target (n int, %s); INSERT INTO source VALUES %s", list, list, strings.Join(cells, ", ")))
	for _, w := range ways() {
		for _, j := range w.jobs {
			s.copied(int64(rows), j)
		}
		for i, c := range columns {
			t.Run(c.name+"/"+w.name, func(t *testing.T) {
				look := fmt.Sprintf("SELECT n, c%d::text FROM %%s ORDER BY n", i)
				if got, want := s.rows(fmt.Sprintf(look, "target")), s.rows(fmt.Sprintf(look, "source")); !slices.Equal(got, want) {
					t.Errorf("\n got %q\nwant %q", got, want)
				}
			})
		}
	}
}

func TestValuesAreKept(t *testing.T) {
	var columns []column
	for _, c := range []struct{ name, sqlType, value string }{
		{"a decimal that a double cannot hold keeps its last digit", "numeric(17,2)", "99999999999999.99"},
		{"a decimal of scale 0 is not read as an integer", "numeric(30,0)", "123456789012345678901234567890"},
		{"a number without a scale keeps its digits", "numeric", "3.14159265358979"},
		{"numeric without a precision is neither NULL nor rounded", "numeric", "12345678901234567890.5"},
		{"a trailing zero is kept", "numeric(10,2)", "7.10"},
		{"18446744073709551615 stays itself", "numeric(20,0)", "18446744073709551615"},
		{"all of 38 digits", "numeric(38,10)", "1234567890123456789012345678.0123456789"},
	} {
		columns = append(columns, column{c.name, c.sqlType, []string{c.value, "-" + c.value, "0", "NULL"}})
	}
	kept(t, append(columns,
		column{"bits that are all ones", "bit(64)", []string{"repeat('1', 64)::bit(64)", "B'" + strings.Repeat("0", 63) + "1'"}},
		column{"true stays true", "boolean", []string{"true", "false"}},
		column{"a uuid through texts, without a cast", "uuid", []string{"'f47ac10b-58cc-4372-a567-0e02b2c3d479'"}},
		column{"a JSON string keeps its quotes", "jsonb", []string{`'"x"'`, `'{"a": [1.10, null]}'`, "'12.50'", "'true'"}},
		column{"arrays of int", "int[]", []string{"'{1,2}'", "'{1,NULL}'", "'{}'", "'{{1,2},{3,4}}'"}},
		column{"arrays of text", "text[]", []string{`ARRAY['a,b','"','\','NULL','',NULL,'é']`}},
		column{"timestamps before 1970", "timestamp", []string{"'1969-12-31 23:59:59.5'", "'0001-01-01'", "'0044-03-15 10:00 BC'", "'infinity'", "'-infinity'"}},
		column{"dates before 1970", "date", []string{"'1969-07-20'", "'0044-03-15 BC'", "'infinity'"}},
		column{"milliseconds before 1970 stay the number", "bigint", []string{"-14182940000"}},
		column{"emoji and characters beyond 16 bits", "text", []string{"'😀𠀀'", "'Žluťoučký'", `E'a\tb\r\nc\\\\"'`, `'\N'`, "'NULL'", "'null'"}},
	)...)
}

func TestNullsAreNeitherZeroNorEmpty(t *testing.T) {
	var columns []column
	for _, c := range [][2]string{
		{"bytea", "''"},
		{"text", "''"},
		{"varchar(5)", "''"},
		{"int", "0"},
		{"boolean", "false"},
		{"double precision", "0"},
		{"real", "0"},
		{"numeric", "0"},
		{"date", "'2000-01-01'"},
		{"timestamp", "'1970-01-01'"},
		{"time", "'00:00'"},
		{"interval", "'0'"},
		{"json", "'[]'"},
	} {
		columns = append(columns, column{c[0], c[0], []string{"NULL", c[1], "NULL"}})
	}
	kept(t, columns...)
}

func TestNumbersAsTexts(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE source (a numeric(10,2), b numeric, c numeric(17,2)); INSERT INTO source VALUES (7.10, 12345678901234567890.5, 99999999999999.99)")
	s.copied(1, `{source: {postgres: {url: {pg}, table: source}}, sink: {csv: {path: "{dir}/out.csv"}}}`)
	equal(t, "csv", s.text("out.csv"), "a,b,c\n7.10,12345678901234567890.5,99999999999999.99\n")
	s.copied(1, `{source: {postgres: {url: {pg}, table: source}}, sink: {jsonl: {path: "{dir}/out.jsonl"}}}`)
	equal(t, "jsonl", s.text("out.jsonl"), `{"a":7.10,"b":12345678901234567890.5,"c":99999999999999.99}`+"\n")
	s.copied(1, `{source: {postgres: {url: {pg}, table: source}}, sink: {sqlite: {path: "{dir}/out.db", table: t}}}`)
	s.liteExpect("out.db", "SELECT a, b, c, typeof(c) FROM t", "7.10|12345678901234567890.5|99999999999999.99|text")
}

func TestUnsignedPastTheSignedRange(t *testing.T) {
	const source = `source: {csv: {path: "{dir}/in.csv", types: {u: uint64}}}` + "\n"
	s := newPostgres(t, "CREATE TABLE t (n int, u bigint)")
	s.write("in.csv", "n,u\n1,18446744073709551615\n2,9223372036854775808\n3,5\n")
	t.Run("a table that is made holds all of it", func(t *testing.T) {
		s := s.in(t)
		s.copied(3, source+"sink: {postgres: {url: {pg}, table: made}}\n")
		s.expect("SELECT u, pg_typeof(u) FROM made ORDER BY n", "18446744073709551615|numeric", "9223372036854775808|numeric", "5|numeric")
	})
	t.Run("bigint refuses it and stores no negative number", func(t *testing.T) {
		s := s.in(t)
		if sum := s.done(source + "sink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 2}\n"); sum.Dirty != 2 {
			t.Errorf("summary %+v", sum)
		}
		s.expect("SELECT n, u FROM t", "3|5")
	})
	t.Run("and so does the INTEGER of SQLite", func(t *testing.T) {
		s := s.in(t)
		if sum := s.done(source + `sink: {sqlite: {path: "{dir}/o.db", table: t}}` + "\nerrors: {records: 2}\n"); sum.Dirty != 2 {
			t.Errorf("summary %+v", sum)
		}
		s.liteExpect("o.db", "SELECT n, u, typeof(u) FROM t", "3|5|integer")
	})
}

func TestMadeTablesHaveTheSourcesTypes(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE source (
		id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, big bigint, small smallint NOT NULL, d numeric(38,10), whole numeric(30,0), free numeric, r real, f double precision,
		b boolean, bits bit(64), flags varbit(5), u uuid, js json, jb jsonb, arr int[], raw bytea, day date, at timestamp(3), moment timestamptz, short varchar(7));
		INSERT INTO source (small, d, bits, u, arr, moment) VALUES (1, 0.1, repeat('1', 64)::bit(64), 'f47ac10b-58cc-4372-a567-0e02b2c3d479', '{1,NULL}', '2024-01-01 00:00+05:30')`)
	s.copied(1, "source: {postgres: {url: {pg}, table: source}}\nsink: {postgres: {url: {pg}, table: target}}\n")
	const types = `SELECT a.attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute a WHERE attrelid = '%s'::regclass AND attnum > 0 ORDER BY attnum`
	s.expect(fmt.Sprintf(types, "target"), s.rows(fmt.Sprintf(types, "source"))...)
	s.expect("SELECT t::text FROM target t", s.rows("SELECT t::text FROM source t")...)
}

func TestBooleansAndBits(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE source (n int, b boolean, bits bit(8), one bit(1));
		INSERT INTO source VALUES (1, false, B'00000101', B'1'), (2, true, B'11111111', B'0'), (3, NULL, NULL, NULL)`)
	for _, c := range []struct{ name, columns, target, look, rows string }{
		{"false becomes 0 in a column of numbers", "n, b", "n int, b smallint", "n, b", "1|0 2|1 3|NULL"},
		{"bits become a number where one is wanted", "n, bits", "n int, bits smallint", "n, bits", "1|5 2|255 3|NULL"},
		{"one bit becomes a truth value", "n, one", "n int, one boolean", "n, one", "1|t 2|f 3|NULL"},
		{"bits become bytes where they are wanted", "n, bits", "n int, bits bytea", "n, encode(bits, 'hex')", "1|05 2|ff 3|NULL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.in(t)
			s.exec("DROP TABLE IF EXISTS target; CREATE TABLE target (" + c.target + ")")
			s.copied(3, "source: {postgres: {url: {pg}, table: source}}\nsink: {postgres: {url: {pg}, table: target}}\ncolumns: ["+c.columns+"]\n")
			s.expect("SELECT "+c.look+" FROM target ORDER BY 1", strings.Fields(c.rows)...)
		})
	}
	t.Run("truth values in a file are those that targets read", func(t *testing.T) {
		s := s.in(t)
		s.copied(3, `{source: {postgres: {url: {pg}, table: source}}, sink: {csv: {path: "{dir}/o.csv"}}, columns: [n, b]}`)
		equal(t, "csv", s.text("o.csv"), "n,b\n1,false\n2,true\n3,\n")
	})
	t.Run("truth values in SQLite are 0 and 1", func(t *testing.T) {
		s := s.in(t)
		s.copied(3, `{source: {postgres: {url: {pg}, table: source}}, sink: {sqlite: {path: "{dir}/o.db", table: t}}, columns: [n, b]}`)
		s.liteExpect("o.db", "SELECT n, b, typeof(b) FROM t ORDER BY 1", "1|0|integer", "2|1|integer", "3|NULL|null")
	})
}

func TestSixteenBytesAreAUUIDByACastOnly(t *testing.T) {
	s := newPostgres(t, "")
	s.write("in.csv", "n,b\n1,\\xf47ac10b58cc4372a5670e02b2c3d479\n2,\n")
	const source = "source: {csv: {path: \"{dir}/in.csv\", types: {b: bytes}}}\n"
	s.copied(2, source+"sink: {postgres: {url: {pg}, table: raw}}\n")
	s.expect("SELECT pg_typeof(b), encode(b, 'hex') FROM raw ORDER BY n", "bytea|f47ac10b58cc4372a5670e02b2c3d479", "bytea|NULL")
	s.copied(2, source+"sink: {postgres: {url: {pg}, table: cast_}}\ncolumns: [n, {name: b, cast: uuid}]\n")
	s.expect("SELECT pg_typeof(b), b FROM cast_ ORDER BY n", "uuid|f47ac10b-58cc-4372-a567-0e02b2c3d479", "uuid|NULL")
}

func TestJSON(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE arrays (a int[], b bool[], n numeric[], j jsonb); INSERT INTO arrays VALUES ('{1,2,NULL}', '{t,f,NULL}', '{NaN,1.50}', '"x"');
		CREATE TABLE source (n int PRIMARY KEY, j json); CREATE TABLE target (n int, j json);
		INSERT INTO source VALUES (1, '{"b": 1,  "a" : "\u00e9"}'), (2, 'null'), (3, NULL)`)
	t.Run("an array is JSON in a file of JSON", func(t *testing.T) {
		s := s.in(t)
		s.copied(1, `{source: {postgres: {url: {pg}, table: arrays}}, sink: {jsonl: {path: "{dir}/o.jsonl"}}}`)
		equal(t, "jsonl", s.text("o.jsonl"), `{"a":[1,2,null],"b":[true,false,null],"n":["NaN",1.50],"j":"x"}`+"\n")
		s.exec("CREATE TABLE back (LIKE arrays)")
		s.copied(1, `{name: back, source: {jsonl: {path: "{dir}/o.jsonl"}}, sink: {postgres: {url: {pg}, table: back}}}`)
		s.expect("SELECT a, b, n, j FROM back", `{1,2,NULL}|{t,f,NULL}|{NaN,1.50}|"x"`)
	})
	t.Run("json's null is dirty in a file of JSON", func(t *testing.T) {
		s := s.in(t)
		sum := s.done(`{name: nulls, errors: {records: 1}, source: {postgres: {url: {pg}, table: source}}, sink: {jsonl: {path: "{dir}/n.jsonl"}}}`)
		if sum.Written != 2 || sum.Dirty != 1 {
			t.Errorf("summary %+v", sum)
		}
		equal(t, "jsonl", s.text("n.jsonl"), `{"n":1,"j":{"b": 1,  "a" : "\u00e9"}}`+"\n"+`{"n":3,"j":null}`+"\n")
	})
	// What a file of JSON cannot tell apart is in docs/limits.md.
	for _, w := range ways() {
		t.Run("json keeps its spaces, and null is not NULL/"+w.name, func(t *testing.T) {
			s := s.in(t)
			want := []string{`1|{"b": 1,  "a" : "\u00e9"}`, "2|null", "3|NULL"}
			if w.name == "jsonl" { // where it would be dirty
				s.exec("DELETE FROM source WHERE n = 2")
				defer s.exec("INSERT INTO source VALUES (2, 'null')")
				want = slices.Delete(want, 1, 2)
			}
			for _, j := range w.jobs {
				s.copied(int64(len(want)), j)
			}
			s.expect("SELECT n, j FROM target ORDER BY n", want...)
		})
	}
}

func TestNullIsNotTheColumnsDefault(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int PRIMARY KEY, v text DEFAULT 'N', w int DEFAULT 7, given text DEFAULT 'given')")
	s.write("in.csv", "n,v,w\n1,,\n2,\"\",0\n")
	for _, mode := range []string{"append", "truncate", "overwrite", "upsert"} {
		t.Run(mode, func(t *testing.T) {
			s := s.in(t)
			s.copied(2, fmt.Sprintf("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t, mode: %s}}\n", mode))
			s.expect("SELECT * FROM t ORDER BY n", "1|NULL|NULL|given", "2||0|given")
		})
	}
}

func TestTimes(t *testing.T) {
	s := newPostgres(t, "")
	const source = "source: {csv: {path: \"{dir}/in.csv\"}}\n"
	t.Run("an offset becomes the same moment", func(t *testing.T) {
		s := s.in(t)
		s.exec("CREATE TABLE moments (at timestamptz)")
		s.write("in.csv", "at\n2024-01-01 00:00:00 +05:30\n2024-01-01T00:00:00-08:00\n")
		s.copied(2, source+"sink: {postgres: {url: {pg}, table: moments}}\n")
		s.expect("SELECT at AT TIME ZONE 'UTC' FROM moments ORDER BY 1", "2023-12-31 18:30:00", "2024-01-01 08:00:00")
	})
	t.Run("a date column refuses a time rather than losing it", func(t *testing.T) {
		s := s.in(t)
		s.exec("CREATE TABLE days (n int, day date)")
		s.write("in.csv", "n,day\n1,2024-05-06 07:08:09\n2,2024-05-06\n")
		if sum := s.done(source + "sink: {postgres: {url: {pg}, table: days}}\nerrors: {records: 1}\n"); sum.Dirty != 1 {
			t.Errorf("summary %+v", sum)
		}
		s.expect("SELECT n, day FROM days", "2|2024-05-06")
	})
	t.Run("a time of day found in a file is kept", func(t *testing.T) {
		s := s.in(t)
		s.write("in.csv", "day\n2024-05-06 07:08:09\n")
		s.copied(1, source+"sink: {postgres: {url: {pg}, table: found}}\n")
		s.expect("SELECT day, pg_typeof(day) FROM found", "2024-05-06 07:08:09|timestamp without time zone")
	})
	t.Run("a finer fraction is refused, and cut where a cast asks for it", func(t *testing.T) {
		s := s.in(t)
		s.exec("CREATE TABLE fine (n int, at timestamp(3))")
		s.write("in.csv", "n,at\n1,2024-01-01 00:00:00.123456789\n2,2024-01-01 00:00:00.123\n")
		const j = source + "sink: {postgres: {url: {pg}, table: fine, mode: truncate}}\nerrors: {records: 1}\n"
		if sum := s.done(j); sum.Dirty != 1 {
			t.Errorf("summary %+v", sum)
		}
		s.expect("SELECT n, at FROM fine", "2|2024-01-01 00:00:00.123")
		s.copied(2, j+"columns: [n, {name: at, cast: timestamp(3)}]\n")
		s.expect("SELECT n, at FROM fine ORDER BY 1", "1|2024-01-01 00:00:00.123", "2|2024-01-01 00:00:00.123")
	})
}

// The binary runs under zones of the host that differ from each other and from
// the databases', whose form of dates is another one too.
func TestWallTimesAndMomentsInAnyZone(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE source (wall timestamp, moment timestamptz, day date, clock timetz); CREATE TABLE target (LIKE source);
		INSERT INTO source VALUES ('2024-03-10 02:30:00', '2024-03-10 02:30:00-08', '2024-03-10', '02:30-08'), ('1991-09-15 00:30:00', '1991-09-15 00:30:00+08', '1991-09-15', '00:30+08:00:01');
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = ''America/Los_Angeles''', current_database());
			EXECUTE format('ALTER DATABASE %I SET DateStyle = ''German, DMY''', current_database()); END $$`)
	leat := binary(t)
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			s := s.in(t)
			for i, j := range w.jobs {
				zone := []string{"TZ=Asia/Shanghai", "TZ=America/New_York"}[i%2]
				s.write("job.yaml", s.fill(j))
				p, exit := testenv.RunProcess(t, testenv.Command{Path: leat, Env: []string{zone}, Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}})
				if exit.Code != 0 {
					t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
				}
			}
			s.expect("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SELECT wall, moment, day, clock FROM target ORDER BY 1",
				"1991-09-15 00:30:00|1991-09-14 16:30:00+00|1991-09-15|00:30:00+08:00:01", "2024-03-10 02:30:00|2024-03-10 10:30:00+00|2024-03-10|02:30:00-08")
		})
	}
}

func TestEmptyFieldsInNumbers(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int, i int, f double precision, d date, b boolean)")
	s.write("in.csv", "n,i,f,d,b\n1,,,,\n2,\"\",1,2024-01-01,true\n3,1,\"\",2024-01-01,true\n4,1,1,\"\",true\n5,1,1,2024-01-01,\"\"\n6,1,1,2024-01-01,true\n")
	sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 4}\n")
	if sum.Dirty != 4 || sum.Written != 2 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT * FROM t ORDER BY 1", "1|NULL|NULL|NULL|NULL", "6|1|1|2024-01-01|t")
}

// PostgreSQL's numeric has no minus zero, and takes it as zero; SQLite's REAL
// has neither that nor NaN: they are dirty there, and kept as texts.
func TestMinusZeroAndNaN(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (id int, n numeric, f float8)")
	s.write("in.csv", "id,n,f\n1,-0,-0\n2,-0.00,-0.0\n3,NaN,NaN\n")
	s.copied(3, `{source: {csv: {path: "{dir}/in.csv"}}, sink: {postgres: {url: {pg}, table: t}}}`)
	s.expect("SELECT id, n, f FROM t ORDER BY 1", "1|0|-0", "2|0.00|-0", "3|NaN|NaN")
	s.expect("SELECT '-0'::numeric, '-0.00'::numeric", "0|0.00")

	const toReal = `{source: {csv: {path: "{dir}/in.csv", types: {id: int64, f: %s}}}, columns: [id, f], sink: {sqlite: {path: "{dir}/out.db", table: %s}}, errors: {records: 3}}`
	if sum := s.in(t).done(fmt.Sprintf(toReal, "float64", "dirty")); sum.Dirty != 3 {
		t.Errorf("summary %+v, want 3 dirty", sum)
	}
	s.in(t).copied(3, fmt.Sprintf(toReal, "text", "kept"))
	s.liteExpect("out.db", "SELECT f, typeof(f) FROM kept ORDER BY id", "-0|text", "-0.0|text", "NaN|text")
	s.liteExec("out.db", "CREATE TABLE there(id INTEGER, f REAL)")
	if sum := s.in(t).done(fmt.Sprintf(toReal, "text", "there")); sum.Dirty != 3 {
		t.Errorf("summary %+v, want 3 dirty in a REAL column whatever the source says", sum)
	}
}
