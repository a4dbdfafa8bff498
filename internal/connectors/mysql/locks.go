package mysql

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// lockSeconds is when waiting for a lock of ours ends anyway, for a holder that
// cannot be ended.
const lockSeconds = 20

// lockName names a lock of the server by what it is for. Whoever holds rows of
// our tables in a transaction holds the lock of that name, so that the server
// can tell who it is.
func lockName(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "leat-" + hex.EncodeToString(sum[:20])
}

// evictor ends the sessions that hold locks of ours for too long.
type evictor struct {
	database.Evictor
	sessions *sessions

	mu sync.Mutex
	// busy are the connections by which this process holds a run's lock: it is
	// at work, and would only end itself.
	busy map[int64]bool
}

// setBusy notes that a connection holds a run's lock, or no more.
func (e *evictor) setBusy(id int64, is bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy == nil {
		e.busy = map[int64]bool{}
	}
	if is {
		e.busy[id] = true
	} else {
		delete(e.busy, id)
	}
}

func (e *evictor) isBusy(id int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.busy[id]
}

// wait is something that may have to wait for others.
type wait struct {
	// locks names the locks whose holders may be waited for.
	locks []string
	// still reports whether the waiter has the right to end others; nil is always.
	still func(ctx context.Context, s *session) (bool, error)
}

// during runs f, which may wait in the waiter's session for who holds one of the locks.
func (e *evictor) during(ctx context.Context, waiter *session, w wait, f func() error) error {
	return e.During(ctx, func(ctx context.Context) (string, error) { return e.end(ctx, waiter.id, w) }, f)
}

// end ends who holds one of the locks and returns the connections' numbers.
func (e *evictor) end(ctx context.Context, waiter int64, w wait) (ended string, err error) {
	s, err := e.sessions.get(ctx)
	if err != nil {
		return "", err
	}
	defer s.close()
	if w.still != nil {
		if still, err := w.still(ctx, s); err != nil || !still {
			return "", err
		}
	}
	for locks := range slices.Chunk(w.locks, 500) {
		asked := make([]string, len(locks))
		for i, lock := range locks {
			asked[i] = "IS_USED_LOCK(" + quoteText(lock) + ")"
		}
		holders, err := s.one(ctx, "SELECT "+strings.Join(asked, ", "))
		if err != nil {
			return ended, err
		}
		for _, holder := range holders {
			id, err := number(holder)
			if err != nil {
				return ended, err
			}
			if id == 0 || id == waiter || e.isBusy(id) {
				continue
			}
			if _, err := s.exec(ctx, "KILL "+string(holder)); err != nil && numberOf(err) != errNoSuchThread {
				return ended, err
			}
			ended = strings.TrimLeft(ended+" "+string(holder), " ")
		}
	}
	return ended, nil
}

// lock takes a lock by its name, ending who holds it for too long.
func (e *evictor) lock(ctx context.Context, s *session, lock string, still func(context.Context, *session) (bool, error)) error {
	return e.during(ctx, s, wait{locks: []string{lock}, still: still}, func() error {
		got, err := s.tryLock(ctx, lock, lockSeconds)
		if err == nil && !got {
			err = connector.Errorf(connector.Retryable, "another connection holds a lock of the job and could not be ended")
		}
		return err
	})
}

// tryLock takes a lock by its name if that can be had within so many seconds.
func (s *session) tryLock(ctx context.Context, lock string, seconds int) (bool, error) {
	row, err := s.one(ctx, fmt.Sprintf("SELECT GET_LOCK(%s, %d)", quoteText(lock), seconds))
	if err != nil {
		return false, err
	}
	return string(row[0]) == "1", nil
}

// unlock lets go of a lock; a session that cannot is ended, which does the same.
func (s *session) unlock(ctx context.Context, lock string) {
	if s.ended {
		return
	}
	if _, err := s.one(context.WithoutCancel(ctx), "SELECT RELEASE_LOCK("+quoteText(lock)+")"); err != nil {
		s.close()
	}
}

// locked runs f under a lock of that name.
func (k *Sink) locked(ctx context.Context, s *session, lock string, f func() error) error {
	if err := k.evictor.lock(ctx, s, lock, nil); err != nil {
		return wrap("lock the run", err)
	}
	k.evictor.setBusy(s.id, true)
	defer k.evictor.setBusy(s.id, false)
	defer s.unlock(ctx, lock)
	return f()
}
