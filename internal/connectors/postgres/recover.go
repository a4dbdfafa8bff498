package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// recover loads a chunk's rows that the server refused, without the records at
// fault (exactness rule 5), which it takes out. It goes through the rows in
// steps. A step whose refusal names a row loses that row, and those before it
// are tried again; one that names none is halved. Steps grow with each success.
func (w *writer) recover(ctx context.Context, rows []database.Row, pg *pgconn.PgError) error {
	if err := w.refused(ctx, pg); err != nil {
		return err
	}
	at, end := 0, len(rows)
	for at < len(rows) {
		n := end - at
		switch line := w.fault(pg, rows[at:end]); {
		case pg == nil:
			at, end = end, end+2*n
		case line < 0:
			end = at + max(1, n/2)
		case line > 0:
			end = at + line
		default:
			at, end = at+1, at+1+max(64, n/4)
		}
		end = min(end, len(rows))
		var err error
		if pg, err = w.step(ctx, rows[at:end]); err != nil {
			return err
		}
	}
	return nil
}

// fault finds the row that a refusal of these rows is about and rejects it;
// -1 when it cannot be told. Of rows that COPY stores together, it names the
// last when one of them is too big.
func (w *writer) fault(pg *pgconn.PgError, rows []database.Row) int {
	if pg == nil {
		return -1
	}
	line := -1
	if !strings.HasPrefix(pg.Code, classLimit) {
		line = rowAt(rows, lineOf(pg.Where, w.table))
	}
	if line < 0 && living(rows) == 1 {
		line = rowAt(rows, 1)
	}
	if line >= 0 {
		r := &rows[line]
		w.reject(r.Batch, int(r.Index), pg.ColumnName, causeOf(pg), reasonOf(pg))
		r.Batch = nil
	}
	return line
}

// refused rolls back to the savepoint; an error that is no record's fault ends
// the attempt.
func (w *writer) refused(ctx context.Context, pg *pgconn.PgError) error {
	if !recordFault(pg) {
		return pg
	}
	return w.session.exec(ctx, "ROLLBACK TO SAVEPOINT leat")
}

// step loads living rows in a COPY and savepoint of their own. It returns the
// server's refusal of a record after rolling back.
func (w *writer) step(ctx context.Context, rows []database.Row) (*pgconn.PgError, error) {
	if living(rows) == 0 {
		return nil, nil
	}
	_, err := w.loadAgain(ctx, rows, math.MaxInt64)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg, w.refused(ctx, pg)
	}
	return nil, err
}

// loadAgain loads living rows that were encoded before, up to so many bytes,
// in a COPY of their own, and returns the rest.
func (w *writer) loadAgain(ctx context.Context, rows []database.Row, most int64) ([]database.Row, error) {
	if err := w.copy.start(ctx, w.savepointSQL()+"; "+w.statement); err != nil {
		return rows, err
	}
	c := w.chunk
	var sent database.Load
	for len(rows) > 0 && sent.Bytes < most {
		r := rows[0]
		rows = rows[1:]
		if r.Batch == nil {
			continue
		}
		start := c.next()
		var err error
		if c.Piece, _, err = w.encoder.row(c.Piece, r.Batch, int(r.Index)); err != nil {
			return rows, fmt.Errorf("encode a record again: %w", err)
		}
		sent.Add(int64(len(c.Piece) - start))
		if len(c.Piece) < pieceBytes {
			continue
		}
		if err := w.copy.send(ctx, c.take()); err != nil {
			return rows, err
		}
	}
	if piece := c.take(); piece != nil {
		if err := w.copy.send(ctx, piece); err != nil {
			return rows, err
		}
	}
	counted, err := w.copy.finish(ctx)
	if err == nil {
		err = w.loaded(ctx, counted, sent)
	}
	return rows, err
}

// errNothingLeft is for a chunk whose constraint fails with no row in it.
var errNothingLeft = connector.Errorf(connector.Permanent, "a constraint of the table fails without any record of ours")
