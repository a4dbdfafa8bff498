package postgres

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// rowTaker puts the messages of a COPY into batches: as cells or as they are.
type rowTaker interface {
	// selected are the names of the columns that a row has, format what COPY
	// has to be told.
	selected() []string
	format() string
	// begin prepares an empty batch.
	begin(b *batch.Batch)
	// take adds the rows of a message and returns their number.
	take(b *batch.Batch, message []byte) (int64, error)
	full(b *batch.Batch) bool
	seal(b *batch.Batch)
	// key returns the key of a sealed batch's last row, as texts that the
	// server reads.
	key(b *batch.Batch) ([]string, error)
}

// reader reads a split by one COPY … TO STDOUT.
type reader struct {
	source  *Source
	session *session
	taker   rowTaker
	doing   string

	// rows counts those taken, to be compared with COPY's own count (rule 12).
	rows  int64
	ended bool
	err   error
	// position is the key after the last batch; seekable says that it counts.
	position connector.Position
	seekable bool

	// turn is held while Next runs, so that Close can wait for it.
	turn   chan struct{}
	closed sync.Once
}

// Open implements connector.Source.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	return s.openAs(ctx, split, pos, func(sh *shape, keys []column) rowTaker { return newRowDecoder(sh.columns, keys) })
}

func (s *Source) openAs(ctx context.Context, split connector.Split, pos connector.Position, taker func(*shape, []column) rowTaker) (connector.Reader, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	doing := "read " + sh.What
	spec, err := database.DecodeSpec[splitSpec](split.Spec)
	if err != nil {
		return nil, err
	}
	session, err := s.sessions.get(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.open(ctx, session, sh, spec, pos, taker)
	if err != nil {
		session.rollback(ctx)
		s.sessions.put(session)
		return nil, wrap(doing, err)
	}
	r.doing = doing
	return r, nil
}

func (s *Source) open(ctx context.Context, session *session, sh *shape, spec *splitSpec, pos connector.Position, taker func(*shape, []column) rowTaker) (*reader, error) {
	keys, err := database.KeyColumns(&spec.Range, sh.keyColumns, (*column).named)
	if err != nil {
		return nil, err
	}
	after, seekable, err := sh.Resume(&spec.Range, pos)
	if err != nil {
		return nil, err
	}
	from := sh.from
	if spec.Table != 0 {
		if from, err = pin(ctx, session, spec); err != nil {
			return nil, err
		}
	}
	r := &reader{source: s, session: session, seekable: seekable, position: pos, turn: make(chan struct{}, 1)}
	conditions, err := spec.conditions(keys, after)
	if err != nil {
		return nil, err
	}
	if !seekable {
		keys = nil
	}
	r.taker = taker(sh, keys)
	if s.where != "" {
		conditions = append(conditions, s.condition())
	}
	sql := "COPY (SELECT " + quoteNames(r.taker.selected()) + " FROM " + from + database.Where(conditions)
	if spec.Ordered {
		sql += " ORDER BY " + quoteNames(spec.Key)
	}
	return r, r.start(ctx, sql+") TO STDOUT"+r.taker.format())
}

// pin makes sure that the blocks of a split are those it was made from: while
// the transaction holds its lock nothing can rewrite the table.
func pin(ctx context.Context, session *session, spec *splitSpec) (string, error) {
	row, err := session.one(ctx, "SELECT n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::oid", spec.Table.String())
	if err != nil {
		return "", err
	}
	if row == nil {
		return "", connector.Errorf(connector.Permanent, "a table that held rows of it was dropped after its splits were made; begin anew with --restart")
	}
	table := name{schema: string(row[0]), table: string(row[1])}.String()
	if spec.Filenode == 0 {
		return "ONLY " + table, nil
	}
	lock := "LOCK TABLE ONLY " + table + " IN ACCESS SHARE MODE"
	if row[2][0] == 'm' {
		// LOCK takes no materialized views; a query locks them as well.
		lock = "SELECT FROM ONLY " + table + " LIMIT 0"
	}
	if err := session.exec(ctx, joinSQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", lock)); err != nil {
		return "", err
	}
	row, err = session.one(ctx, "SELECT pg_catalog.pg_relation_filenode($1::oid)", spec.Table.String())
	if err != nil {
		return "", err
	}
	if got := string(row[0]); got != spec.Filenode.String() {
		return "", connector.Errorf(connector.Permanent,
			"%s was rewritten (VACUUM FULL, CLUSTER, TRUNCATE, ALTER TABLE, REFRESH) after its splits were made, so the places of its rows mean nothing; begin anew with --restart", table)
	}
	return "ONLY " + table, nil
}

// start sends the COPY. Its answer is not waited for: the server holds it back
// until there are rows, which may take long.
func (r *reader) start(ctx context.Context, sql string) error {
	f := r.session.Frontend()
	f.SendQuery(&pgproto3.Query{String: sql})
	return r.session.guard(ctx, f.Flush)
}

// Next implements connector.Reader.
func (r *reader) Next(ctx context.Context, b *batch.Batch) error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.err != nil {
		return r.err
	}
	r.session.gather(true)
	err := r.session.guard(ctx, func() error { return r.fill(b) })
	r.session.gather(false)
	if err == nil && b.Rows > 0 {
		if !r.seekable {
			return nil
		}
		var key []string
		if key, err = r.taker.key(b); err == nil {
			r.position, err = database.EncodePosition(key)
		}
		if err == nil {
			return nil
		}
	} else if err == nil {
		r.err = io.EOF
		return io.EOF
	}
	r.err = wrap(r.doing, err)
	b.Reset(b.Schema)
	return r.err
}

// fill takes rows until the batch is full or the COPY ends.
func (r *reader) fill(b *batch.Batch) error {
	f := r.session.Frontend()
	r.taker.begin(b)
	for !r.ended && !r.taker.full(b) {
		msg, err := f.Receive()
		if err != nil && r.source.rules.unprovedEnd {
			r.ended = true
			break
		}
		if err != nil {
			return err
		}
		switch msg := msg.(type) {
		case *pgproto3.CopyData:
			n, err := r.taker.take(b, msg.Data)
			if err != nil {
				return err
			}
			r.rows += n
		case *pgproto3.CommandComplete:
			if err := r.prove(string(msg.CommandTag)); err != nil {
				return err
			}
		case *pgproto3.ErrorResponse:
			return pgconn.ErrorResponseToPgError(msg)
		case *pgproto3.ReadyForQuery:
			if r.rows >= 0 {
				return io.ErrUnexpectedEOF
			}
			r.ended = true
		}
	}
	if len(b.Spans) > 0 {
		r.taker.seal(b)
	}
	return nil
}

// proven marks that COPY's own count was found right.
const proven = -1

// prove compares the rows taken with the tag (exactness rule 12).
func (r *reader) prove(tag string) error {
	if counted := pgconn.NewCommandTag(tag).RowsAffected(); tag != fmt.Sprintf("COPY %d", r.rows) {
		return connector.Errorf(connector.Retryable, "COPY counted %d rows, but %d came", counted, r.rows)
	}
	r.rows = proven
	return nil
}

// Position implements connector.Reader.
func (r *reader) Position() (connector.Position, bool) { return r.position, r.seekable }

// Close implements connector.Reader.
func (r *reader) Close() error {
	r.closed.Do(func() {
		select {
		case r.turn <- struct{}{}:
		default:
			// Next runs, and fails now.
			_ = r.session.Conn().SetDeadline(time.Unix(1, 0))
			r.turn <- struct{}{}
		}
		defer func() { <-r.turn }()
		if r.err == nil {
			r.err = connector.Errorf(connector.Permanent, "%s: the reader is closed", r.doing)
		}
		if !r.ended {
			// Else a long query would run on, its rows wanted by nobody.
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = r.session.CancelRequest(ctx)
			cancel()
			r.session.close()
		} else {
			r.session.rollback(context.Background())
		}
		r.source.sessions.put(r.session)
	})
	return nil
}
