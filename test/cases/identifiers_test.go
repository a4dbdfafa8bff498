package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

func TestNamesAreQuotedAndTheirCaseKept(t *testing.T) {
	s := newPostgres(t, `CREATE SCHEMA "Sales"; CREATE TABLE "Sales"."Order" ("Id" int PRIMARY KEY, "select" text, "CREATED" date, created date, "a ""b"".c" int, "group" int, "é" text);
		INSERT INTO "Sales"."Order" VALUES (1, 'x', '2024-01-01', '2024-01-02', 7, 8, 'ü')`)
	const row = "1|x|2024-01-01|2024-01-02|7|8|ü"
	for _, name := range []string{`Sales.Order`, `'"Sales"."Order"'`} {
		t.Run("schema and table "+name, func(t *testing.T) {
			s := s.in(t)
			s.exec(`DROP TABLE IF EXISTS "Sales"."Copy"`)
			s.copied(1, "source: {postgres: {url: {pg}, table: "+name+"}}\nsink: {postgres: {url: {pg}, table: Sales.Copy}}\nwhere: '\"Id\" = 1'\n")
			s.expect(`SELECT * FROM "Sales"."Copy"`, row)
			const names = `SELECT attname FROM pg_attribute WHERE attrelid = '"Sales"."%s"'::regclass AND attnum > 0 ORDER BY attnum`
			s.expect(fmt.Sprintf(names, "Copy"), s.rows(fmt.Sprintf(names, "Order"))...)
		})
	}
	t.Run("each mode", func(t *testing.T) {
		for _, mode := range []string{"append", "truncate", "overwrite", "upsert"} {
			s := s.in(t)
			s.exec(`DROP TABLE IF EXISTS "Sales"."Where"; CREATE TABLE "Sales"."Where" (LIKE "Sales"."Order" INCLUDING INDEXES)`)
			s.copied(1, "source: {postgres: {url: {pg}, table: Sales.Order}}\nsink: {postgres: {url: {pg}, table: Sales.Where, mode: "+mode+"}}\n")
			s.expect(`SELECT * FROM "Sales"."Where"`, row)
		}
	})
	t.Run("through a file and SQLite", func(t *testing.T) {
		s := s.in(t)
		s.copied(1, "name: a\nsource: {postgres: {url: {pg}, table: Sales.Order}}\nsink: {csv: {path: \"{dir}/o.csv\"}}\ncolumns: [Id, select, created, 'a \"b\".c', group, é]\n")
		equal(t, "header", strings.SplitN(s.text("o.csv"), "\n", 2)[0], `Id,select,created,"a ""b"".c",group,é`)
		s.copied(1, "name: b\nsource: {csv: {path: \"{dir}/o.csv\"}}\nsink: {sqlite: {path: \"{dir}/o.db\", table: 'Order \"x\"'}}\n")
		s.liteExpect("o.db", `SELECT * FROM "Order ""x"""`, "1|x|2024-01-02|7|8|ü")
	})
	t.Run("two names that SQLite holds for one are refused", func(t *testing.T) {
		s := s.in(t)
		_, err := s.run("name: c\nsource: {postgres: {url: {pg}, table: Sales.Order}}\nsink: {sqlite: {path: \"{dir}/p.db\", table: t}}\n")
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "created") {
			t.Errorf("error %v", err)
		}
	})
}

func TestColumnsAreMatchedByName(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (b text, a int, other int)")
	s.liteExec("o.db", "CREATE TABLE t (b TEXT, a INT, other INT)")
	s.write("in.csv", "a,b\n1,x\n")
	sinks := map[string]string{"postgres": "postgres: {url: {pg}, table: t, mode: truncate}", "sqlite": `sqlite: {path: "{dir}/o.db", table: t, mode: truncate}`}
	for name, sink := range sinks {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.copied(1, "source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {"+sink+"}\n")
			want := []string{"x|1|NULL"}
			got := s.lite("o.db", "SELECT * FROM t")
			if name == "postgres" {
				got = s.rows("SELECT * FROM t")
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
		t.Run(name+", a name that is not there", func(t *testing.T) {
			s := s.in(t)
			s.write("more.csv", "a,b,zz\n1,x,2\n")
			_, err := s.run("source: {csv: {path: \"{dir}/more.csv\"}}\nsink: {" + sink + "}\n")
			if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "zz") {
				t.Errorf("error %v", err)
			}
			_, err = s.run("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {" + sink + "}\ncolumns: [a, yy]\n")
			if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "yy") {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("other names by the list of columns", func(t *testing.T) {
		s := s.in(t)
		s.copied(1, "source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t, mode: truncate}}\ncolumns: [{name: b, from: b}, {name: other, from: a}]\n")
		s.expect("SELECT * FROM t", "x|NULL|1")
	})
}

// A foreign key of two columns refuses what has no partner in both.
func TestAForeignKeyOfTwoColumns(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE parent (a int, b int, PRIMARY KEY (a, b)); INSERT INTO parent VALUES (1, 1), (1, 2);
		CREATE TABLE child (id int PRIMARY KEY, a int, b int, FOREIGN KEY (a, b) REFERENCES parent)`)
	s.write("in.csv", "id,a,b\n1,1,1\n2,1,2\n3,2,1\n4,1,\n")
	for _, mode := range []string{"append", "overwrite"} {
		t.Run(mode, func(t *testing.T) {
			s := s.in(t)
			s.exec("TRUNCATE child")
			sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: child, mode: " + mode + "}}\nerrors: {records: 1}\n")
			if sum.Dirty != 1 {
				t.Errorf("summary %+v", sum)
			}
			s.expect("SELECT id FROM child ORDER BY 1", "1", "2", "4")
			s.expect("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = 'child'::regclass AND cardinality(conkey) = 2", "1")
		})
	}
}
