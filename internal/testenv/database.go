package testenv

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// databases numbers the databases of this test binary.
var databases atomic.Int64 //nolint:gochecknoglobals // a counter for names only

// Database creates an empty database for this test and returns its URL. It is
// dropped at the end of the test, together with sessions still in it.
func (s *PostgresServer) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	s.Exec(t, s.URL("postgres"), "CREATE DATABASE "+name)
	t.Cleanup(func() { s.drop(t, name) })
	return s.URL(name)
}

// drop removes a database, if the server still runs.
func (s *PostgresServer) drop(t testing.TB, name string) {
	t.Helper()
	if !s.running.Runs() {
		return
	}
	s.Exec(t, s.URL("postgres"), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// Exec runs statements on a connection of its own and fails the test on error.
// Without arguments sql may hold several statements.
func (s *PostgresServer) Exec(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	withConn(t, url, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql, args...)
		return err
	}, sql)
}

// Rows returns the rows of a query, each value in PostgreSQL's text form, and
// NULL as "NULL".
func (s *PostgresServer) Rows(t testing.TB, url, sql string) [][]string {
	t.Helper()
	var rows [][]string
	withConn(t, url, func(ctx context.Context, conn *pgx.Conn) error {
		results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
		if err != nil {
			return err
		}
		for _, result := range results {
			for _, row := range result.Rows {
				rows = append(rows, texts(row))
			}
		}
		return nil
	}, sql)
	return rows
}

// Lines returns the rows of a query as [PostgresServer.Rows] does, each with
// bars between its values.
func (s *PostgresServer) Lines(t testing.TB, database, query string) []string {
	t.Helper()
	return lines(s.Rows(t, database, query))
}

// Expect compares the lines of a query.
func (s *PostgresServer) Expect(t testing.TB, database, query string, want ...string) {
	t.Helper()
	expectLines(t, query, s.Lines(t, database, query), want)
}

func texts(row [][]byte) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = "NULL"
		if cell != nil {
			out[i] = string(cell)
		}
	}
	return out
}

// Value returns the single value of a query.
func Value[T any](t testing.TB, url, sql string, args ...any) T {
	t.Helper()
	var value T
	withConn(t, url, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sql, args...).Scan(&value)
	}, sql)
	return value
}

// withConn runs f on a new connection. The context is not the test's, which has
// ended when clean-up runs.
func withConn(t testing.TB, url string, f func(context.Context, *pgx.Conn) error, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatalf("connect to PostgreSQL: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := f(ctx, conn); err != nil {
		t.Fatalf("run %q: %v", strings.TrimSpace(sql), err)
	}
}
