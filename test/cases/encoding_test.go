package cases

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/leatdata/leat/internal/testenv"
)

func TestFilesInOtherEncodings(t *testing.T) {
	s := newPostgres(t, "")
	for _, c := range []struct {
		name string
		enc  encoding.Encoding
		text string
	}{
		{"gbk", simplifiedchinese.GBK, "中文,丂|乗"}, // the second bytes of 乗 and 丂 are ASCII ones
		{"gb18030", simplifiedchinese.GB18030, "😀𠀀|é"},
		{"utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "😀𠀀"},
		{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "Žluťoučký"},
		{"latin1", charmap.ISO8859_1, "é\u00a0ü"},
	} {
		for _, ending := range []string{"csv", "csv.gz"} {
			t.Run(c.name+" "+ending, func(t *testing.T) {
				s := s.in(t)
				var text strings.Builder
				text.WriteString("n,文\n")
				if c.name == "latin1" || c.name == "utf-16be" {
					text.Reset()
					text.WriteString("n,v\n")
				}
				for i := range 3000 {
					fmt.Fprintf(&text, "%d,\"%s\n%d\"\n", i, c.text, i)
				}
				raw, err := c.enc.NewEncoder().String(text.String())
				if err != nil {
					t.Fatal(err)
				}
				if ending == "csv.gz" {
					raw = compressed(t, raw)
				}
				s.write("in."+ending, raw)
				s.exec("DROP TABLE IF EXISTS t")
				s.copied(3000, fmt.Sprintf("source: {csv: {path: \"{dir}/in.%s\", encoding: %s, split_size: 4KiB}}\nsink: {postgres: {url: {pg}, table: t}}\ncolumns: [n, {name: v, from: %s}]\n",
					ending, c.name, strings.Trim(strings.SplitN(text.String(), "\n", 2)[0][2:], "\n")))
				s.expect("SELECT count(*), count(DISTINCT n), bool_and(v = '"+c.text+"' || E'\\n' || n) FROM t", "3000|3000|t")
			})
		}
	}
}

// A database that cannot hold a character has its record set aside, and never
// a question mark in its place.
func TestADatabaseOfAnotherEncoding(t *testing.T) {
	s := newScene(t)
	s.pg = testenv.PostgresWith(t)
	s.pg.Exec(t, s.pg.URL("postgres"), "CREATE DATABASE western ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
	s.url = s.pg.URL("western")
	s.exec("CREATE TABLE t (n int, v text)")
	s.write("in.csv", "n,v\n1,é\n2,😀𠀀\n3,plain\n4,日本\n5,ü\n")
	sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 2, dirty: \"{dir}/bad.jsonl\"}\n")
	if sum.Dirty != 2 || sum.Written != 3 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SET client_encoding = 'UTF8'; SELECT n, v FROM t ORDER BY 1", "1|é", "3|plain", "5|ü")
	for _, text := range []string{"😀𠀀", "日本"} {
		if !strings.Contains(s.text("bad.jsonl"), text) {
			t.Errorf("%q is not kept in\n%s", text, s.text("bad.jsonl"))
		}
	}
	s.copied(3, "name: back\nsource: {postgres: {url: {pg}, table: t}}\nsink: {jsonl: {path: \"{dir}/o.jsonl\"}}\n")
	equal(t, "file", s.text("o.jsonl"), `{"n":1,"v":"é"}`+"\n"+`{"n":3,"v":"plain"}`+"\n"+`{"n":5,"v":"ü"}`+"\n")
}

func TestZeroBytesAndBrokenTexts(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int, v text)")
	s.write("in.csv", "n,v\n1,a\x00b\n2,\xff\xfe\n3,ok\n")
	sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 2}\n")
	if sum.Dirty != 2 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT n, v FROM t", "3|ok")
}

func TestUpsertOfKeysAlone(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (a int, b int, PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, 1)")
	s.liteExec("o.db", "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b)); INSERT INTO t VALUES (1, 1)")
	s.write("in.csv", "a,b\n1,1\n1,2\n1,2\n2,1\n")
	for _, sink := range []string{"postgres: {url: {pg}, table: t, mode: upsert}", `sqlite: {path: "{dir}/o.db", table: t, mode: upsert}`} {
		if sum := s.in(t).done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {" + sink + "}\n"); sum.Written+sum.Merged != 4 {
			t.Errorf("summary %+v", sum)
		}
	}
	s.expect("SELECT a, b FROM t ORDER BY 1, 2", "1|1", "1|2", "2|1")
	s.liteExpect("o.db", "SELECT a, b FROM t ORDER BY 1, 2", "1|1", "1|2", "2|1")
}

func TestUpsertReplacesByKey(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (id int PRIMARY KEY, v text, w int DEFAULT 7); INSERT INTO t VALUES (1, 'old', 1), (2, 'stays', 2)")
	s.liteExec("o.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, w INT DEFAULT 7); INSERT INTO t VALUES (1, 'old', 1), (2, 'stays', 2)")
	s.write("in.csv", "id,v\n1,new\n3,first\n3,last\n4,\n")
	for _, sink := range []string{"postgres: {url: {pg}, table: t, mode: upsert}", `sqlite: {path: "{dir}/o.db", table: t, mode: upsert}`} {
		for range 2 { // again: the same state
			s := s.in(t)
			if sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {" + sink + "}\n"); sum.Written != 3 || sum.Merged != 1 {
				t.Errorf("summary %+v", sum)
			}
		}
	}
	want := []string{"1|new|1", "2|stays|2", "3|last|7", "4|NULL|7"}
	s.expect("SELECT * FROM t ORDER BY 1", want...)
	s.liteExpect("o.db", "SELECT * FROM t ORDER BY 1", want...)
}
