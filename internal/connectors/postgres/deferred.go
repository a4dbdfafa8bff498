package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

const immediate = "SET CONSTRAINTS ALL IMMEDIATE"

// judgeDeferred has the server judge the deferred constraints before the
// COMMIT. A record they refuse stands in rows that were taken long ago, so the
// transaction is rolled back and loaded anew in halves (exactness rule 5):
// what stays refused when alone is tried again as long as other records came
// in since, for it may refer to them. With records rejected the transaction
// stays open, and ErrAgain asks for another commit.
func (w *writer) judgeDeferred(ctx context.Context) error {
	err := w.session.exec(ctx, immediate)
	if err == nil {
		return nil
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !recordFault(pg) {
		return err
	}
	if len(w.kept) == 0 {
		return errors.Join(errNothingLeft, pg)
	}
	if err := w.restart(ctx); err != nil {
		return err
	}
	var refused []refusal
	for rows := w.kept; len(rows) > 0; {
		if refused, err = w.halves(ctx, rows); err != nil {
			return err
		}
		if len(refused) == len(rows) {
			break
		}
		rows = make([]database.Row, len(refused))
		for i, r := range refused {
			rows[i] = r.row
		}
	}
	if len(refused) == 0 {
		return w.session.exec(ctx, immediate)
	}
	dead := make(map[database.Row]bool, len(refused))
	for _, r := range refused {
		dead[r.row] = true
		w.reject(r.row.Batch, int(r.row.Index), r.why.ColumnName, causeOf(r.why), reasonOf(r.why))
	}
	living := w.kept[:0]
	for _, r := range w.kept {
		if !dead[r] {
			living = append(living, r)
		}
	}
	w.kept = living
	return connector.ErrAgain
}

// refusal is a row that the server refused alone, and why.
type refusal struct {
	row database.Row
	why *pgconn.PgError
}

// restart rolls the transaction back and begins it again.
func (w *writer) restart(ctx context.Context) error {
	if err := w.session.exec(ctx, "ROLLBACK"); err != nil {
		return err
	}
	w.Begun, w.savepoint, w.Pending = false, false, connector.Counters{}
	return w.begin(ctx)
}

// halves loads rows whose constraints hold, and returns those that were
// refused alone.
func (w *writer) halves(ctx context.Context, rows []database.Row) ([]refusal, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	why, err := w.reload(ctx, rows)
	if err != nil || why == nil {
		return nil, err
	}
	if len(rows) == 1 {
		return []refusal{{rows[0], why}}, nil
	}
	half := len(rows) / 2
	first, err := w.halves(ctx, rows[:half:half])
	if err != nil {
		return nil, err
	}
	second, err := w.halves(ctx, rows[half:])
	return append(first, second...), err
}

// reload loads rows under a savepoint and has all constraints judge them.
func (w *writer) reload(ctx context.Context, rows []database.Row) (*pgconn.PgError, error) {
	if err := w.session.exec(ctx, "SAVEPOINT leat_deferred; SET CONSTRAINTS ALL DEFERRED"); err != nil {
		return nil, err
	}
	before := w.Pending
	w.savepoint = false
	for len(rows) > 0 {
		var err error
		rows, err = w.loadAgain(ctx, rows, copyBytes)
		if pg, failed, err := w.undone(ctx, before, err); failed {
			return pg, err
		}
	}
	w.chunk.reset()
	err := w.session.exec(ctx, immediate)
	if pg, failed, err := w.undone(ctx, before, err); failed {
		return pg, err
	}
	w.savepoint = false
	return nil, w.session.exec(ctx, "RELEASE SAVEPOINT leat_deferred")
}

// undone rolls back what reload did when err is the refusal of a record.
func (w *writer) undone(ctx context.Context, before connector.Counters, err error) (pg *pgconn.PgError, failed bool, _ error) {
	if err == nil {
		return nil, false, nil
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !recordFault(pg) {
		return nil, true, err
	}
	w.Pending, w.savepoint = before, false
	w.chunk.reset()
	return pg, true, w.session.exec(ctx, "ROLLBACK TO SAVEPOINT leat_deferred; RELEASE SAVEPOINT leat_deferred")
}
