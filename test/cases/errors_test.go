package cases

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// An error says once what was being done and with what, however many layers it
// has come through.
func TestErrorsSayThingsOnce(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a'); CREATE TABLE o (id int)")
	role := "r_" + s.rows("SELECT current_database()")[0]
	s.exec("CREATE ROLE " + role + " LOGIN; GRANT CREATE ON SCHEMA public TO " + role)
	t.Cleanup(func() { s.exec("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	maria := testenv.MariaDB(t)
	s.my = maria.Database(t)
	maria.Exec(t, s.my, "CREATE TABLE t (id INT PRIMARY KEY, v INT); CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW CALL nothing()")
	s.write("in.csv", "id,v\n1,2\n")
	pg := strings.Replace(s.url, "postgres@", role+"@", 1)
	for _, c := range []struct {
		name, source, sink, table string
	}{
		{"read", fmt.Sprintf("{postgres: {url: %q, table: t}}", pg), `{csv: {path: "{dir}/out.csv"}}`, `"t"`},
		{"read ordered", fmt.Sprintf("{postgres: {url: %q, table: t}}", pg), `{jsonl: {path: "{dir}/out/"}}`, `"t"`},
		{"write", `{csv: {path: "{dir}/in.csv"}}`, fmt.Sprintf("{postgres: {url: %q, table: t, create: never}}", pg), `"t"`},
		{"write to mysql", `{csv: {path: "{dir}/in.csv"}}`, "{mysql: {url: {my}, table: t}}", "`t`"},
		{"prepare", `{csv: {path: "{dir}/in.csv"}}`, `{postgres: {url: {pg}, table: new, pre: "SELECT 1/0"}}`, `"new"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := s.in(t).run("name: j\nsource: " + c.source + "\nsink: " + c.sink + "\nrestart: {attempts: 0}\n")
			if err == nil {
				t.Fatal("no error")
			}
			parts := strings.Split(err.Error(), ": ")
			slices.Sort(parts)
			if len(slices.Compact(slices.Clone(parts))) != len(parts) || strings.Count(err.Error(), c.table) > 1 || !strings.Contains(err.Error(), c.table) {
				t.Errorf("says something twice, or not what table: %v", err)
			}
		})
	}
}
