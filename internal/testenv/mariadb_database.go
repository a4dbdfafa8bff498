package testenv

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Database creates an empty database for this test and returns its URL. It is
// dropped at the end of the test.
func (s *MariaDBServer) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	s.Exec(t, s.URL(""), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	t.Cleanup(func() { s.drop(t, name) })
	return s.URL(name)
}

// drop ends the sessions in a database, which may hold locks of it, and removes
// it, if the server still runs.
func (s *MariaDBServer) drop(t testing.TB, name string) {
	t.Helper()
	if !s.running.Runs() {
		return
	}
	for _, id := range s.Lines(t, s.URL(""), "SELECT id FROM information_schema.processlist WHERE db = '"+name+"'") {
		// One that has just ended is no error that counts.
		s.Exec(t, s.URL(""), "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR 1094 BEGIN END; KILL "+id+"; END")
	}
	s.Exec(t, s.URL(""), "DROP DATABASE IF EXISTS "+name)
}

// Exec runs statements on a connection of its own and fails the test on error.
// Without arguments text may hold several statements.
func (s *MariaDBServer) Exec(t testing.TB, database, text string, args ...any) {
	t.Helper()
	withMariaDB(t, database, text, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, text, args...)
		return err
	})
}

// Rows returns the rows of a query, each value in the server's text form, and
// NULL as "NULL".
func (s *MariaDBServer) Rows(t testing.TB, database, query string) [][]string {
	t.Helper()
	var lines [][]string
	withMariaDB(t, database, query, func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		cells, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			line := make([][]byte, len(cells))
			for i, cell := range cells {
				line[i] = cell
			}
			lines = append(lines, texts(line))
		}
		return rows.Err()
	})
	return lines
}

// Lines returns the rows of a query as [MariaDBServer.Rows] does, each with
// bars between its values.
func (s *MariaDBServer) Lines(t testing.TB, database, query string) []string {
	t.Helper()
	return lines(s.Rows(t, database, query))
}

// Expect compares the lines of a query.
func (s *MariaDBServer) Expect(t testing.TB, database, query string, want ...string) {
	t.Helper()
	expectLines(t, query, s.Lines(t, database, query), want)
}

// openMariaDB opens a database by its URL; it does not connect.
func openMariaDB(database string) (*sql.DB, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, fmt.Errorf("read a database's address: %w", err)
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", u.Host, u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.DBName = strings.TrimPrefix(u.Path, "/")
	config.MultiStatements, config.InterpolateParams = true, true
	config.MaxAllowedPacket = 0 // the server's
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("configure MariaDB's driver: %w", err)
	}
	return sql.OpenDB(connector), nil
}

// withMariaDB runs f on a new connection. The context is not the test's, which
// has ended when clean-up runs.
func withMariaDB(t testing.TB, database, text string, f func(context.Context, *sql.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	db, err := openMariaDB(database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatalf("connect to MariaDB: %v", err)
	}
	defer func() { _ = conn.Close() }()
	if err := f(ctx, conn); err != nil {
		t.Fatalf("run %q: %v", strings.TrimSpace(text), err)
	}
}
