package testenv

import (
	"context"
	"net/url"
	"testing"

	"github.com/leatdata/leat/internal/testenv/mariaserver"
)

// MariaDBServer is a private server on a free loopback port, with its data in a
// temporary folder and a user root without password. A commit that was answered
// survives a stop of the server (not of the machine).
type MariaDBServer struct{ server }

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
	server.own(t)
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
	return &MariaDBServer{server{
		kind: "MariaDB", folder: "mariadb", settings: append(defaults, settings...), make: mariaserver.Create, ping: pingMariaDB,
	}}
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

// URL is the address of a database on this server, for root.
func (s *MariaDBServer) URL(database string) string { return MariaDBURL(s.Addr(), database) }

// MariaDBURL is the address of a database behind addr, the server's own or a
// proxy's.
func MariaDBURL(addr, database string) string {
	u := url.URL{Scheme: "mysql", User: url.User("root"), Host: addr, Path: "/" + database}
	return u.String()
}
