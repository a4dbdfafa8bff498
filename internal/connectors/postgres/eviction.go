package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// patience is how long a lock of ours may be held against us before its
// holder is ended (exactness rule 2); lockTimeout is when waiting ends anyway,
// for a holder that cannot be ended.
const (
	patience    = 5 * time.Second
	lockTimeout = 20 * time.Second
)

// evictor ends the sessions that hold a lock of ours for too long. Only the
// sink's own rows and advisory locks are waited for under it: their holders
// are writers of ours, alive, stopped or dead.
type evictor struct {
	sessions *sessions
	log      *slog.Logger
	patience time.Duration
}

// during runs wait, which may block on a lock in the waiter's session.
func (e *evictor) during(ctx context.Context, waiter *session, wait func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { e.watch(ctx, waiter.PID()) })
	err := wait()
	cancel()
	watch.Wait()
	return err
}

func (e *evictor) watch(ctx context.Context, pid uint32) {
	timer := time.NewTimer(e.patience)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		ended, err := e.end(ctx, pid)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.log.Warn("end who holds a lock of the job", "error", err)
		case ended != "":
			e.log.Warn("ended sessions that held a lock of the job", "pids", ended)
		}
		timer.Reset(e.patience / 5)
	}
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
