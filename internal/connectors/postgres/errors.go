package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// SQLSTATEs that this package acts on.
const (
	stateUndefinedTable   = "42P01"
	stateUndefinedObject  = "42704"
	stateInvalidSchema    = "3F000"
	stateLockNotAvailable = "55P03"
	stateDeadlock         = "40P01"
	stateNoRight          = "42501"
	stateNotNull          = "23502"
	stateUnique           = "23505"
	stateNullValue        = "22004"
	classData             = "22"
	classLimit            = "54"
)

// wrap says what was being done and gives the error its class.
func wrap(doing string, err error) error { return database.Wrap(doing, err, classify) }

// classify finds the class of an error of the driver or the server.
func classify(err error) connector.Class {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return connector.Retryable
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return classifyState(pg.Code)
	}
	if errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) {
		return connector.Retryable
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return connector.Retryable
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return connector.Retryable
	}
	return connector.Permanent
}

// classifyState finds the class of a SQLSTATE. Only what may go away by itself
// is retryable.
func classifyState(state string) connector.Class {
	switch state[:min(2, len(state))] {
	case "08", "40", "53", "57", "58":
		return connector.Retryable
	case "28", "3D", "3F":
		return connector.Usage
	}
	switch state {
	case stateLockNotAvailable, "55006", "25P03", "25P04":
		return connector.Retryable
	}
	return connector.Permanent
}

// systemClasses are the classes of SQLSTATEs that tell of the statement, the
// session or the server, and no record.
const systemClasses = " 00 01 02 03 08 0A 0B 0F 0L 0P 0Z 24 25 26 28 2B 2D 34 3B 3D 3F 40 42 53 55 57 58 72 F0 HV XX "

// isDeadlock reports whether the server has ended a transaction for a deadlock.
func isDeadlock(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == stateDeadlock
}

// recordFault reports whether the server refused a record for what it holds:
// data exceptions, constraints, a view's check option, limits of an index or of
// nesting, what a trigger's code or a routine raises, also in classes of its own.
func recordFault(pg *pgconn.PgError) bool {
	return len(pg.Code) == 5 && !strings.Contains(systemClasses, " "+pg.Code[:2]+" ")
}

// causeOf is of which kind the server's refusal of a record is.
func causeOf(pg *pgconn.PgError) batch.Cause {
	switch {
	case pg.Code == stateNotNull, pg.Code == stateNullValue:
		return batch.CauseNull
	case pg.Code == stateUnique:
		return batch.CauseDuplicate
	case strings.HasPrefix(pg.Code, classData):
		return batch.CauseConversion
	}
	return batch.CauseOther
}

// causeHere is of which kind a refusal on our side is.
func causeHere(err error) batch.Cause {
	if errors.Is(err, errNullRequired) {
		return batch.CauseNull
	}
	return batch.CauseConversion
}

// reasonOf is what a dirty record says of the server's refusal.
func reasonOf(pg *pgconn.PgError) string {
	if pg.Detail == "" {
		return pg.Message
	}
	return pg.Message + ": " + pg.Detail
}
