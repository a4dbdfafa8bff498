package testenv

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leatdata/leat/internal/testenv/pgserver"
)

// PostgresServer is a private server on a free loopback port, with its data in
// a temporary folder and trust authentication for every user. A commit that was
// answered survives a stop of the server (not of the machine: fsync is off
// unless set).
type PostgresServer struct{ server }

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
	server.own(t)
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
	return &PostgresServer{server{
		kind: "PostgreSQL", folder: "postgres", settings: append(defaults, settings...), make: pgserver.Create, ping: ping,
	}}
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
