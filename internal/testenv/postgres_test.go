package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	pg := Postgres(t)
	first, second := pg.Database(t), pg.Database(t)
	pg.Exec(t, first, "CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, NULL), (2, '')")
	if got, want := fmt.Sprint(pg.Rows(t, first, "SELECT * FROM t ORDER BY a")), "[[1 NULL] [2 ]]"; got != want {
		t.Errorf("rows are %s, want %s", got, want)
	}
	if Value[bool](t, second, "SELECT to_regclass('t') IS NOT NULL") {
		t.Error("the second database holds the table of the first")
	}
}

func TestDatabaseIsDroppedWithItsSessions(t *testing.T) {
	t.Parallel()
	pg := Postgres(t)
	var name string
	t.Run("inner", func(t *testing.T) {
		url := pg.Database(t)
		name = Value[string](t, url, "SELECT current_database()")
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	})
	count := Value[int](t, pg.URL("postgres"), "SELECT count(*) FROM pg_database WHERE datname = $1", name)
	if count != 0 {
		t.Errorf("database %s still stands", name)
	}
}

func TestSettingsAndRestart(t *testing.T) {
	t.Parallel()
	pg := PostgresWith(t, "fsync=on", "work_mem=7MB")
	url := pg.Database(t)
	if got := Value[string](t, url, "SELECT current_setting('fsync') || current_setting('work_mem')"); got != "on7MB" {
		t.Errorf("settings are %s", got)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), "CREATE TABLE t AS SELECT generate_series(1, 1000) AS a"); err != nil {
		t.Fatal(err)
	}
	port := pg.Addr()
	pg.Restart(t)
	if pg.Addr() != port {
		t.Errorf("the port changed from %s to %s", port, pg.Addr())
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("a session outlived the restart")
	}
	if got := Value[int](t, url, "SELECT count(*) FROM t"); got != 1000 {
		t.Errorf("%d committed rows are left, want 1000", got)
	}
	if !strings.Contains(pg.Log(t), "immediate shutdown") {
		t.Errorf("the stop was not immediate; the log:\n%s", pg.Log(t))
	}
	pg.Stop(t)
	if c, err := net.Dial("tcp", pg.Addr()); err == nil {
		_ = c.Close()
		t.Error("a stopped server still accepts")
	}
}

func TestSingleTestSeesItsOwnLeaks(t *testing.T) {
	Postgres(t)
	options := append(LeakOptions(), goleak.IgnoreCurrent())
	if err := goleak.Find(options...); err != nil {
		t.Errorf("the shared server counts as a leak: %v", err)
	}
	stay := make(chan struct{})
	ended := make(chan struct{})
	go func() { <-stay; close(ended) }()
	if err := goleak.Find(options...); err == nil {
		t.Error("a goroutine left over is not found")
	}
	close(stay)
	<-ended
}

// The server and the scratch folder end with the test binary, also when that is
// killed and can do nothing for it.
func TestServerEndsWithAKilledTestBinary(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"postgres", "mariadb"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			endsWithItsTestBinary(t, server)
		})
	}
}

func endsWithItsTestBinary(t *testing.T, server string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	holder := StartProcess(t, Command{Path: self, Env: []string{holdVariable + "=" + server}})
	holder.WaitStdout(t, " .\n")
	var pid int
	var addr, dir string
	if _, err := fmt.Sscanf(holder.Stdout(), "holding %d %s %s", &pid, &addr, &dir); err != nil {
		t.Fatalf("read %q: %v", holder.Stdout(), err)
	}
	if !alive(pid) {
		t.Fatalf("server %d is not there before the kill", pid)
	}
	if exit := holder.Kill(t); exit.Signal != syscall.SIGKILL {
		t.Fatalf("the holder ended by %+v", exit)
	}
	eventually(t, "the server is gone", func() bool { return !alive(pid) })
	eventually(t, "its port refuses connections", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		_ = conn.Close()
		return false
	})
	eventually(t, "the scratch folder is gone", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
}

// alive says whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// eventually waits for a condition on something outside of this process.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	timeout := time.NewTimer(time.Minute)
	defer timeout.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatalf("after a minute it does not hold that %s", what)
		}
	}
}
