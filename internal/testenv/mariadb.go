package testenv

import (
	"context"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/leatdata/leat/internal/testenv/mariaserver"
)

// MariaDBServer is a private server on a free loopback port, with its data in a
// temporary folder and a user root without password. A commit that was answered
// survives a stop of the server (not of the machine).
type MariaDBServer struct {
	settings []string
	dir      string
	// server is nil until create has made it.
	server *mariaserver.Server

	first    sync.Once
	firstErr error
}

// MariaDB returns the server that all tests of this binary share. Tests keep
// apart by their databases; one that stops, restarts or reconfigures a server
// takes its own from [MariaDBWith].
func MariaDB(t testing.TB) *MariaDBServer {
	t.Helper()
	server, err := shared.sharedMariaDB()
	if err != nil {
		t.Fatalf("start MariaDB: %v", err)
	}
	return server
}

// MariaDBWith starts a server with own settings, such as "local_infile=0" or
// "max_allowed_packet=1M", which ends with the test.
func MariaDBWith(t testing.TB, settings ...string) *MariaDBServer {
	t.Helper()
	server := newMariaDBServer(settings)
	t.Cleanup(func() {
		if err := server.stop(); err != nil {
			t.Errorf("stop MariaDB: %v", err)
		}
		if err := os.RemoveAll(server.dir); err != nil {
			t.Errorf("remove MariaDB's folder: %v", err)
		}
	})
	if err := server.create(); err != nil {
		t.Fatalf("start MariaDB: %v", err)
	}
	return server
}

// newMariaDBServer makes a server whose commits are in the files, not synced.
func newMariaDBServer(settings []string) *MariaDBServer {
	defaults := []string{
		"innodb_flush_log_at_trx_commit=2",
		"innodb_flush_method=nosync",
		"debug_no_sync=1",
		"innodb_log_file_size=48M",
		"innodb_buffer_pool_size=128M",
		"max_connections=200",
		"max_allowed_packet=256M",
		"local_infile=1",
	}
	return &MariaDBServer{settings: append(defaults, settings...)}
}

// create makes the data folder and starts the server for the first time.
func (s *MariaDBServer) create() (err error) {
	if s.dir, err = shared.folder("mariadb"); err != nil {
		return err
	}
	data := shared.build("MariaDB's data")
	data.once.Do(func() {
		var dir string
		if dir, data.err = shared.folder("mariadb-data"); data.err == nil {
			data.path, data.err = mariaserver.Install(dir)
		}
	})
	if data.err != nil {
		return data.err
	}
	s.server, err = mariaserver.Create(context.Background(), mariaserver.Config{
		Dir: s.dir, Data: data.path, Settings: s.settings, Ping: pingMariaDB,
	})
	return err
}

// pingMariaDB asks the server at addr.
func pingMariaDB(ctx context.Context, addr string) error {
	db, err := openMariaDB(MariaDBURL(addr, ""))
	if err != nil {
		return err
	}
	err = db.PingContext(ctx)
	_ = db.Close()
	return err
}

// stop ends the server at once, as a crash of its process would; it may be
// called again.
func (s *MariaDBServer) stop() error {
	if s.server == nil {
		return nil
	}
	return s.server.Stop()
}

// Stop ends the server at once, with no goodbye to its clients.
func (s *MariaDBServer) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatalf("stop MariaDB: %v", err)
	}
}

// Start starts a stopped server again, on the same port and data, and returns
// once it answers.
func (s *MariaDBServer) Start(t testing.TB) {
	t.Helper()
	if err := s.server.Start(t.Context()); err != nil {
		t.Fatalf("start MariaDB again: %v", err)
	}
}

// Restart is Stop and Start: every session is lost, what was committed is not.
func (s *MariaDBServer) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

// Addr is the server's host:port, for a [Proxy] in front of it.
func (s *MariaDBServer) Addr() string { return s.server.Addr() }

// Pid is the server's process id.
func (s *MariaDBServer) Pid() int { return s.server.Pid() }

// URL is the address of a database on this server, for root.
func (s *MariaDBServer) URL(database string) string { return MariaDBURL(s.Addr(), database) }

// MariaDBURL is the address of a database behind addr, the server's own or a
// proxy's.
func MariaDBURL(addr, database string) string {
	u := url.URL{Scheme: "mysql", User: url.User("root"), Host: addr, Path: "/" + database}
	return u.String()
}

// Log is what the server has written to its log.
func (s *MariaDBServer) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.server.LogFile())
	if err != nil {
		t.Fatalf("read MariaDB's log: %v", err)
	}
	return string(text)
}
