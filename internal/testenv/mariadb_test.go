package testenv

import (
	"fmt"
	"net"
	"testing"
)

func TestMariaDBsDatabasesAreApart(t *testing.T) {
	t.Parallel()
	maria := MariaDB(t)
	first, second := maria.Database(t), maria.Database(t)
	maria.Exec(t, first, "CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, NULL), (2, '')")
	if got, want := fmt.Sprint(maria.Rows(t, first, "SELECT * FROM t ORDER BY a")), "[[1 NULL] [2 ]]"; got != want {
		t.Errorf("rows are %s, want %s", got, want)
	}
	maria.Expect(t, second, "SHOW TABLES")
}

func TestMariaDBsDatabaseIsDroppedWithItsSessions(t *testing.T) {
	t.Parallel()
	maria := MariaDB(t)
	var name string
	t.Run("inner", func(inner *testing.T) {
		url := maria.Database(inner)
		name = maria.Lines(t, url, "SELECT database()")[0]
		maria.Exec(t, url, "CREATE TABLE t (a int)")
		db, err := openMariaDB(url)
		if err != nil {
			t.Fatal(err)
		}
		// It holds the table as long as its session lives.
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "BEGIN; SELECT * FROM t"); err != nil {
			t.Fatal(err)
		}
		// Later than the clean-up of the inner test.
		t.Cleanup(func() { _, _ = conn.Close(), db.Close() })
	})
	maria.Expect(t, maria.URL(""), "SHOW DATABASES LIKE '"+name+"'")
}

func TestMariaDBsSettingsAndRestart(t *testing.T) {
	t.Parallel()
	maria := MariaDBWith(t, "local_infile=0", "max_allowed_packet=1M")
	url := maria.Database(t)
	maria.Expect(t, url, "SELECT @@local_infile, @@max_allowed_packet", "0|1048576")
	maria.Exec(t, url, "CREATE TABLE t AS SELECT seq AS a FROM seq_1_to_1000")
	addr := maria.Addr()
	maria.Restart(t)
	if maria.Addr() != addr {
		t.Errorf("the address changed from %s to %s", addr, maria.Addr())
	}
	maria.Expect(t, url, "SELECT count(*) FROM t", "1000")
	maria.Stop(t)
	if c, err := net.Dial("tcp", maria.Addr()); err == nil {
		_ = c.Close()
		t.Error("a stopped server still accepts")
	}
}
