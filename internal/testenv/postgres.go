package testenv

import (
	"context"
	"net/url"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leatdata/leat/internal/testenv/pgserver"
)

// PostgresServer is a private server on a free loopback port, with its data in
// a temporary folder and trust authentication for every user. A commit that was
// answered survives a stop of the server (not of the machine: fsync is off
// unless set).
type PostgresServer struct {
	settings []string
	dir      string
	// server is nil until create has made it.
	server *pgserver.Server

	first    sync.Once
	firstErr error
}

// Postgres returns the server that all tests of this binary share. Tests keep
// apart by their databases; one that stops, restarts or reconfigures a server
// takes its own from [PostgresWith].
func Postgres(t testing.TB) *PostgresServer {
	t.Helper()
	server, err := shared.sharedPostgres()
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return server
}

// PostgresWith starts a server with own settings, such as "fsync=on", which ends
// with the test.
func PostgresWith(t testing.TB, settings ...string) *PostgresServer {
	t.Helper()
	server := newPostgresServer(settings)
	t.Cleanup(func() {
		if err := server.stop(); err != nil {
			t.Errorf("stop PostgreSQL: %v", err)
		}
		if err := os.RemoveAll(server.dir); err != nil {
			t.Errorf("remove PostgreSQL's folder: %v", err)
		}
	})
	if err := server.create(); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return server
}

func newPostgresServer(settings []string) *PostgresServer {
	defaults := []string{
		"fsync=off",
		"full_page_writes=off",
		"max_connections=200",
		"shared_buffers=64MB",
		"log_min_messages=warning",
	}
	return &PostgresServer{settings: append(defaults, settings...)}
}

// create makes the data folder and starts the server for the first time.
func (s *PostgresServer) create() (err error) {
	if s.dir, err = shared.folder("postgres"); err != nil {
		return err
	}
	s.server, err = pgserver.Create(context.Background(), pgserver.Config{Dir: s.dir, Settings: s.settings, Ping: ping})
	return err
}

// ping asks the server at addr.
func ping(ctx context.Context, addr string) error {
	conn, err := pgx.Connect(ctx, PostgresURL(addr, "postgres"))
	if err != nil {
		return err
	}
	err = conn.Ping(ctx)
	_ = conn.Close(ctx)
	return err
}

// stop ends the server at once, as a crash of its processes would; it may be
// called again.
func (s *PostgresServer) stop() error {
	if s.server == nil {
		return nil
	}
	return s.server.Stop()
}

// Stop ends the server at once, with no goodbye to its clients.
func (s *PostgresServer) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatalf("stop PostgreSQL: %v", err)
	}
}

// Start starts a stopped server again, on the same port and data, and returns
// once it answers.
func (s *PostgresServer) Start(t testing.TB) {
	t.Helper()
	if err := s.server.Start(t.Context()); err != nil {
		t.Fatalf("start PostgreSQL again: %v", err)
	}
}

// Restart is Stop and Start: every session is lost, what was committed is not.
func (s *PostgresServer) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

// Addr is the server's host:port, for a [Proxy] in front of it.
func (s *PostgresServer) Addr() string { return s.server.Addr() }

// URL is the address of a database on this server, for the superuser.
func (s *PostgresServer) URL(database string) string {
	return PostgresURL(s.Addr(), database)
}

// PostgresURL is the address of a database behind addr, the server's own or a
// proxy's.
func PostgresURL(addr, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User("postgres"), Host: addr, Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Log is what the server has written to its log.
func (s *PostgresServer) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.server.LogFile())
	if err != nil {
		t.Fatalf("read PostgreSQL's log: %v", err)
	}
	return string(text)
}
