package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/gather"
)

// Settings of each session. They make texts canonical (batch's package comment
// says how), keep our transactions from being ended by a default of the
// server, and let both ends notice a dead peer.
const commonSettings = `SET standard_conforming_strings = on; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = iso_8601;
SET TimeZone = 'UTC'; SET extra_float_digits = 3; SET bytea_output = hex; SET client_encoding = 'UTF8';
SET xmloption = content; SET array_nulls = on; SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;`

// A reader changes nothing. A writer must not be sent notices while it sends
// rows: nobody would read them.
const (
	readerSettings = commonSettings + "SET default_transaction_read_only = on; SET client_min_messages = error"
	writerSettings = commonSettings + "SET client_min_messages = error; SET default_transaction_isolation = 'read committed'"
)

const readBuffer = 64 << 10

// session is a connection with its settings made. It belongs to one goroutine
// at a time.
type session struct {
	*pgconn.PgConn
	// staged says that the temporary table of upsert exists.
	staged bool
	// chunk is the writer's; it stays with the session for its memory.
	chunk chunk
}

// parseURL reads a connection URL. Its errors never hold a part of it.
func parseURL(text option.Secret) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(text.Reveal())
	if err != nil {
		return nil, connector.Errorf(connector.Usage,
			"url: it cannot be read as a connection URL (%s); percent-encode special characters of its password", urlFault(text, err))
	}
	dialer := &net.Dialer{
		Timeout:         10 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	config.DialFunc = gather.Dialer(dialer)
	// The server sends 8 KiB at a time; often several of them are there.
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, readBuffer), w)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 15 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "leat"
	}
	return config, nil
}

// gather makes reads of the session wait for many bytes, or for any as usual.
func (s *session) gather(many bool) {
	if c, ok := s.Conn().(*gather.Conn); ok {
		c.Gather(many)
	}
}

// urlFault says what kind of fault a connection URL has. The driver's error
// holds the URL, and its causes hold parts of it, so only the kind is told.
func urlFault(text option.Secret, err error) string {
	if u, malformed := url.Parse(text.Reveal()); malformed == nil && u.Port() != "" {
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return "its port is none from 1 to 65535"
		}
	}
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) {
		return "malformed"
	}
	if cause := parse.Unwrap(); cause != nil {
		if _, ok := errors.AsType[*net.AddrError](cause); ok {
			return "its host or port is wrong"
		}
	}
	return "malformed"
}

// connect opens a session.
func connect(ctx context.Context, config *pgconn.Config, settings string) (*session, error) {
	conn, err := pgconn.ConnectConfig(ctx, config)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == stateUndefinedObject {
		return nil, connector.Errorf(connector.Usage, "connect to PostgreSQL: a parameter behind the ? of the URL is no setting of the server: %s", pg.Message)
	}
	if err != nil {
		return nil, wrap("connect to PostgreSQL", err)
	}
	s := &session{PgConn: conn}
	if err := s.exec(ctx, settings); err != nil {
		s.close()
		return nil, wrap("make the session's settings", err)
	}
	if err := s.watchClient(ctx); err != nil {
		s.close()
		return nil, wrap("make the session's settings", err)
	}
	return s, nil
}

// watchClient has the server end what it does for us when we are gone: a
// cancel that comes before its query is lost, and who is killed sends none.
// Servers before 14, or on systems that cannot tell, do without.
func (s *session) watchClient(ctx context.Context) error {
	if serverVersion(s) < 140000 {
		return nil
	}
	err := s.exec(ctx, "SET client_connection_check_interval = '2s'")
	if _, refused := errors.AsType[*pgconn.PgError](err); refused && !s.IsClosed() {
		return nil
	}
	return err
}

// close ends the session, whatever it is in the middle of.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.PgConn.Close(ctx)
	<-s.CleanupDone()
}

// exec runs one or more statements and ignores their rows.
func (s *session) exec(ctx context.Context, sql string) error {
	_, err := s.Exec(ctx, sql).ReadAll()
	return err
}

// run runs one statement with text parameters and returns its tag.
func (s *session) run(ctx context.Context, sql string, args ...string) (pgconn.CommandTag, error) {
	result := s.ExecParams(ctx, sql, params(args), nil, nil, nil).Read()
	return result.CommandTag, result.Err
}

// query runs one statement with text parameters and returns its rows; a NULL
// is a nil cell.
func (s *session) query(ctx context.Context, sql string, args ...string) ([][][]byte, error) {
	result := s.ExecParams(ctx, sql, params(args), nil, nil, nil).Read()
	return result.Rows, result.Err
}

// one is query for statements that return one row; no row is a nil row.
func (s *session) one(ctx context.Context, sql string, args ...string) ([][]byte, error) {
	rows, err := s.query(ctx, sql, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

func params(args []string) [][]byte {
	values := make([][]byte, len(args))
	for i, a := range args {
		values[i] = []byte(a)
	}
	return values
}

// commit sends COMMIT and insists on its tag: a COMMIT of an aborted
// transaction is answered with ROLLBACK and no error (exactness rule 3).
func (s *session) commit(ctx context.Context) error {
	results, err := s.Exec(ctx, "COMMIT").ReadAll()
	if err != nil {
		return err
	}
	if len(results) != 1 || results[0].CommandTag.String() != "COMMIT" {
		tag := "nothing"
		if len(results) > 0 {
			tag = results[0].CommandTag.String()
		}
		return connector.Errorf(connector.Retryable, "COMMIT was answered with %s", tag)
	}
	return nil
}

// transact runs f in a transaction and commits it.
func (s *session) transact(ctx context.Context, f func() error) error {
	return s.transactAs(ctx, "BEGIN", f)
}

// transactAs is transact with what the transaction begins with.
func (s *session) transactAs(ctx context.Context, begin string, f func() error) error {
	if err := s.exec(ctx, begin); err != nil {
		return err
	}
	if err := f(); err != nil {
		s.rollback(ctx)
		return err
	}
	if err := s.commit(ctx); err != nil {
		s.rollback(ctx)
		return err
	}
	return nil
}

// rollback leaves the transaction; where that fails the session ends, which
// does the same.
func (s *session) rollback(ctx context.Context) {
	if s.IsClosed() || s.TxStatus() == 'I' {
		return
	}
	if err := s.exec(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
		s.close()
	}
}

// setLocal is a SET LOCAL with a quoted value.
func setLocal(setting string, d time.Duration) string {
	return fmt.Sprintf("SET LOCAL %s = %d", setting, d.Milliseconds())
}

// joinSQL joins statements for one round trip.
func joinSQL(statements ...string) string { return strings.Join(statements, "; ") }
