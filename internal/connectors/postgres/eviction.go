package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/leatdata/leat/internal/database"
)

// lockTimeout is when waiting for a lock of ours ends anyway, for a holder that
// cannot be ended.
const lockTimeout = 20 * time.Second

// evictor ends the sessions that hold a lock of ours for too long. Only the
// sink's own rows and advisory locks are waited for under it.
type evictor struct {
	database.Evictor
	sessions *sessions
}

// during runs wait, which may block on a lock in the waiter's session.
func (e *evictor) during(ctx context.Context, waiter *session, wait func() error) error {
	return e.During(ctx, func(ctx context.Context) (string, error) { return e.end(ctx, waiter.PID()) }, wait)
}

// end ends the sessions that a backend waits for and returns their numbers.
func (e *evictor) end(ctx context.Context, pid uint32) (string, error) {
	s, err := connect(ctx, e.sessions.config, e.sessions.settings)
	if err != nil {
		return "", err
	}
	defer s.close()
	row, err := s.one(ctx, `SELECT string_agg(p::text, ' ') FROM unnest(pg_catalog.pg_blocking_pids($1::int)) p
WHERE p <> 0 AND pg_catalog.pg_terminate_backend(p)`, fmt.Sprint(pid))
	if err != nil || row == nil {
		return "", err
	}
	return string(row[0]), nil
}
