package cases

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

func TestNullAndEmptyInText(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE source (n int, v text, d date); INSERT INTO source VALUES (1, NULL, NULL), (2, '', '2024-01-01'), (3, '\N', NULL), (4, 'x', NULL);
		CREATE TABLE target (LIKE source)`)
	for _, c := range []struct{ name, options, text string }{
		{"a null token, and quotes about an empty text", `, null_token: '\N'`, "n,v,d\n1,\\N,\\N\n2,\"\",2024-01-01\n3,\"\\N\",\\N\n4,x,\\N\n"},
		{"a bare empty field, and quotes about an empty text", "", "n,v,d\n1,,\n2,\"\",2024-01-01\n3,\\N,\n4,x,\n"},
		{"quotes about all but NULL", ", quote_fields: all", "\"n\",\"v\",\"d\"\n\"1\",,\n\"2\",\"\",\"2024-01-01\"\n\"3\",\"\\N\",\n\"4\",\"x\",\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.in(t)
			options := fmt.Sprintf(`path: "{dir}/o.csv"%s`, c.options)
			s.copied(4, "name: out\nsource: {postgres: {url: {pg}, table: source}}\nsink: {csv: {"+options+"}}\n")
			equal(t, "file", s.text("o.csv"), c.text)
			options = strings.Replace(options, ", quote_fields: all", "", 1)
			s.copied(4, "name: in\nsource: {csv: {"+options+"}}\nsink: {postgres: {url: {pg}, table: target, mode: truncate}}\n")
			s.expect("SELECT * FROM target ORDER BY n", s.rows("SELECT * FROM source ORDER BY n")...)
		})
	}
}

// texts that every dialect has to bring there and back.
func hardTexts() []string {
	return []string{
		"", `\N`, "NULL", `"`, `""`, `'`, `a"b`, `a,b`, "x\ny", "x\r\ny", "x\ry", "\n", " lead", "trail ", `C:\dir\`, `C:\dir\\`, `\`, `\"`, "a\tb", "\ufeffmark", "#", "\\.",
		"Žluťoučký", "😀𠀀", "日本", "a\\\nb", ";", "'a,b'", "\x01\x7f",
	}
}

func TestDialectsThereAndBack(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE source (n int, v text, w text); CREATE TABLE target (LIKE source)")
	for i, text := range hardTexts() {
		s.pg.Exec(t, s.url, "INSERT INTO source VALUES ($1, $2, $2)", i, text)
	}
	s.exec("INSERT INTO source VALUES (100, NULL, NULL), (101, '', NULL), (102, NULL, '')")
	count := int64(len(hardTexts()) + 3)
	for name, options := range map[string]string{
		"defaults":                  "",
		"another quote":             `, quote: "'"`,
		"backslashes":               ", escape: backslash",
		"backslashes and a token":   `, escape: backslash, null_token: '\N'`,
		"backslashes without quote": `, escape: backslash, quote: none, delimiter: tab, null_token: '\N'`,
		"semicolons":                `, delimiter: ";", null_token: "NULL"`,
		"CRLF":                      ", line_end: crlf",
		"no header":                 ", header: false",
	} {
		for _, file := range []string{"o.csv", "o.csv.gz", "o.csv.zst", "out/"} {
			if file != "o.csv" && !strings.Contains(options, "null_token") {
				continue // the form of the file and the dialect know nothing of each other
			}
			t.Run(name+"/"+file, func(t *testing.T) {
				s := s.in(t)
				s.dir = t.TempDir()
				common := fmt.Sprintf(`path: "{dir}/%s"%s`, file, options)
				names := ""
				if strings.Contains(options, "header: false") {
					names = ", names: [n, v, w]"
				}
				s.copied(count, "name: out\nsource: {postgres: {url: {pg}, table: source}}\nsink: {csv: {"+common+"}}\n")
				s.copied(count, "name: in\nsource: {csv: {"+common+names+"}}\nsink: {postgres: {url: {pg}, table: target, mode: truncate}}\n")
				s.expect("SELECT n FROM (SELECT * FROM source EXCEPT SELECT * FROM target) d ORDER BY 1")
				s.expect("SELECT count(*) FROM target", fmt.Sprint(count))
			})
		}
	}
}

func TestQuotesInText(t *testing.T) {
	for _, c := range []struct{ name, options, text, want string }{
		{"a newline within quotes is part of the field", "", "1,\"x\ny\"\n", `{"a":1,"b":"x\ny"}`},
		{"another quote is honoured", `, quote: "'"`, "1,'a,b'\n", `{"a":1,"b":"a,b"}`},
		{"a doubled quote", "", "1,\"a\"\"b\"\n", `{"a":1,"b":"a\"b"}`},
		{"a quote behind a backslash", ", escape: backslash", `1,"a\"b"` + "\n", `{"a":1,"b":"a\"b"}`},
		{"backslashes before the closing quote", "", `1,"C:\dir\\"` + "\n", `{"a":1,"b":"C:\\dir\\\\"}`},
		{"an escaped backslash before the closing quote", ", escape: backslash", `1,"C:\dir\\"` + "\n", `{"a":1,"b":"C:\\dir\\"}`},
		{"a token for NULL in a file of lines", `, quote: none, null_token: '\N', delimiter: "|"`, "1|\\N\n", `{"a":1,"b":null}`},
		{"a blank last field", "", "1,\n", `{"a":1,"b":null}`},
		{"a last line without its end", "", "1,x", `{"a":1,"b":"x"}`},
		{"CRLF", "", "1,x\r\n", `{"a":1,"b":"x"}`},
		{"a last line without its CRLF", "", "1,x\r\n2,y", `{"a":1,"b":"x"}` + "\n" + `{"a":2,"b":"y"}`},
	} {
		source := func(path string) string {
			return fmt.Sprintf("source: {csv: {path: %q, header: false, names: [a, b]%s}}\n", path, c.options)
		}
		const sink = `sink: {jsonl: {path: "{dir}/o.jsonl"}}` + "\n"
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.write("in.csv", c.text)
			s.write("more/a.csv", c.text)
			s.write("in.csv.gz", compressed(t, c.text))
			for _, path := range []string{"in.csv", "in.csv.gz", "more/", "more/*.csv"} {
				s.done("name: j\n" + source("{dir}/"+path) + sink)
				equal(t, path, s.text("o.jsonl"), c.want+"\n")
			}
		})
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestQuoteIsHonouredOnStandardInput(t *testing.T) {
	s := newScene(t)
	s.write("job.yaml", s.fill("source: {csv: {path: \"-\", quote: \"'\", types: {a: text}}}\nsink: {jsonl: {path: \"{dir}/o.jsonl\"}}\n"))
	p, exit := testenv.RunProcess(t, testenv.Command{
		Path: binary(t), Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}, Stdin: strings.NewReader("a,b\n'x,\ny',\"\n"),
	})
	if exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
	equal(t, "file", s.text("o.jsonl"), `{"a":"x,\ny","b":"\""}`+"\n")
}

func TestRaggedRowsAreDirtyAndOthersLoaded(t *testing.T) {
	s := newPostgres(t, "")
	s.write("in.csv", "a,b,c,d\n1,2,3,4\n1,2,3\n1,2,3,4,5\n\n5,6,7,\n")
	sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 3, dirty: \"{dir}/bad.jsonl\"}\n")
	if sum.Read != 5 || sum.Dirty != 3 || sum.Written != 2 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT * FROM t ORDER BY 1", "1|2|3|4", "5|6|7|NULL")
	for _, reason := range []string{"line 3", "3 fields where 4 are expected", "line 4", "5 fields where 4 are expected", "line 5"} {
		if !strings.Contains(s.text("bad.jsonl"), reason) {
			t.Errorf("the dirty records do not say %q:\n%s", reason, s.text("bad.jsonl"))
		}
	}
}

// Where a dirty record is told by its line only when that is known: records
// with line ends in them do not count for one.
func TestWhereADirtyRecordIs(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int, v text)")
	jobs := 0
	for text, where := range map[string]string{
		"n,v\n1,a\nx,b\n":                "in.csv: line 3",
		"n,v\n1,a\nx,b":                  "in.csv: line 3",
		"n,v\r\n1,a\r\nx,b\r\n":          "in.csv: line 3",
		"n,v\n1,\"two\nlines\"\nx,b\n":   "in.csv: lines 2 to 4",
		"n,v\n1,\"two\nlines\"\nx,b":     "in.csv: lines 2 to 4",
		"n,v\n1,a\nonly one\nx,b\n3,c\n": "in.csv: line 4",
	} {
		s := s.in(t)
		s.write("in.csv", text)
		jobs++
		bad := fmt.Sprintf("bad%d.jsonl", jobs)
		s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 2, dirty: \"{dir}/" + bad + "\"}\n")
		if records := s.text(bad); !strings.Contains(records, s.path(where)+`"`) {
			t.Errorf("%q: want %q in\n%s", text, where, records)
		}
	}
}

func TestAHeaderWithALineEnd(t *testing.T) {
	s := newPostgres(t, "")
	s.write("in.csv", "\"first\nline\",b\n1,2")
	s.copied(1, "source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\n")
	s.expect("SELECT \"first\nline\", b FROM t", "1|2")
	s.copied(1, "name: back\nsource: {postgres: {url: {pg}, table: t}}\nsink: {csv: {path: \"{dir}/o.csv\"}}\n")
	equal(t, "file", s.text("o.csv"), "\"first\nline\",b\n1,2\n")
}
