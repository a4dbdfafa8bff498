package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/zk"
)

// readEpoch reads the last take-over, and the version of its node: -1 when there
// is none.
func (s *session) readEpoch(ctx context.Context) (coord.EpochRecord, int32, error) {
	node, err := s.Lookup(ctx, s.layout.epoch())
	if err != nil || !node.Exists {
		return coord.EpochRecord{}, -1, s.failure(err)
	}
	record, err := coord.DecodeEpoch(node.Data)
	return record, node.Stat.Version, err
}

// Look implements coord.Session.
func (s *session) Look(ctx context.Context) (coord.Holder, error) {
	if err := s.Sync(ctx); err != nil {
		return coord.Holder{}, s.failure(err)
	}
	for try := 1; ; try++ {
		lock, err := s.Lookup(ctx, s.layout.lock())
		if err != nil {
			return coord.Holder{}, s.failure(err)
		}
		last, version, err := s.readEpoch(ctx)
		if err != nil {
			return coord.Holder{}, err
		}
		grant := ha.GrantID(lock.Data)
		// The two are of one transaction, and were read one after the other.
		if lock.Exists && grant != last.Grant && try < s.options.MaxRetryAttempts {
			continue
		}
		return coord.Holder{
			Held: lock.Exists, Mine: lock.Exists && lock.Stat.Owner == s.ID(), Last: last,
			Term: ha.Term{Epoch: last.Number, Grant: grant, Guard: int64(version)},
		}, nil
	}
}

// TakeOver implements coord.Session. The check of the witness, which was made before
// the epoch was read, says that all is in the namespace that was read. What a server
// reads that is behind, the transaction refuses.
func (s *session) TakeOver(ctx context.Context, claim coord.Claim) (ha.Term, error) {
	_, held, err := s.Exists(ctx, s.layout.lock())
	if err != nil {
		return ha.Term{}, s.failure(err)
	}
	if held {
		return ha.Term{}, coord.ErrHeld
	}
	witness, last, version, err := s.prepare(ctx)
	if err != nil {
		return ha.Term{}, err
	}
	number, err := claim.Next(ctx, last.Number)
	if err != nil {
		return ha.Term{}, err
	}
	_, err = s.Multi(ctx,
		zk.CheckOp(witness, zk.AnyVersion),
		zk.SetOp(s.layout.epoch(), claim.Record(number).Encode(), version),
		zk.CreateOp(s.layout.lock(), []byte(claim.Grant), zk.Ephemeral),
		zk.CreateOp(s.layout.guard(claim.Grant), nil, zk.Ephemeral))
	if err != nil {
		return ha.Term{}, s.notTaken(witness, err)
	}
	return ha.Term{Epoch: number, Grant: claim.Grant, Guard: int64(version) + 1}, nil
}

// prepare makes what a take-over needs to be there, and reads the epoch.
func (s *session) prepare(ctx context.Context) (witness string, last coord.EpochRecord, version int32, err error) {
	for range 2 {
		if witness, err = s.testify(ctx); err != nil {
			return "", last, 0, err
		}
		last, version, err = s.readEpoch(ctx)
		if err != nil || version >= 0 {
			return witness, last, version, err
		}
		if err := s.makeEpoch(ctx); err != nil {
			return "", last, 0, err
		}
		// Where there was no epoch the namespace is new, perhaps, and the witness is gone.
		s.recant(witness)
	}
	return "", last, 0, fmt.Errorf("the epoch was removed: %w", ha.ErrConflict)
}

func (s *session) makeEpoch(ctx context.Context) error {
	if err := s.EnsurePath(ctx, "/"); err != nil {
		return s.failure(err)
	}
	_, err := s.Create(ctx, s.layout.epoch(), coord.EpochRecord{}.Encode(), zk.Persistent)
	if err == nil || errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return harmless(s.failure(err))
}

// harmless is the error of what may be made twice, or for nothing: an unknown outcome
// is then no more than a reason to try again.
func harmless(err error) error {
	if errors.Is(err, ha.ErrAmbiguous) {
		return fmt.Errorf("%w: %w", ha.ErrConflict, err)
	}
	return err
}

// testify returns a node of the session's own within the latch's folder, under a name
// that nobody will use again; it is made if there is none.
func (s *session) testify(ctx context.Context) (string, error) {
	s.mu.Lock()
	witness := s.witness
	s.mu.Unlock()
	if witness != "" {
		return witness, nil
	}
	if err := s.EnsurePath(ctx, s.layout.folder(latch)); err != nil {
		return "", s.failure(err)
	}
	witness = s.layout.witness(zk.NewID())
	if _, err := s.Create(ctx, witness, nil, zk.Ephemeral); err != nil {
		return "", harmless(s.failure(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.witness = witness
	return witness, nil
}

// recant forgets a witness that is gone.
func (s *session) recant(witness string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.witness == witness {
		s.witness = ""
	}
}

// notTaken is why a take-over was refused: the lock is held, or what was read
// before it is no longer so.
func (s *session) notTaken(witness string, err error) error {
	i, ok := refusedAt(err)
	switch {
	case ok && i > 1 && errors.Is(err, zk.ErrNodeExists):
		return fmt.Errorf("%w: %w", coord.ErrHeld, err)
	case ok && (errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode)):
		if i == 0 {
			s.recant(witness)
		}
		return fmt.Errorf("%w: %w", ha.ErrConflict, err)
	}
	return s.failure(err)
}

// Release implements coord.Session.
func (s *session) Release(ctx context.Context, term ha.Term) error {
	for {
		checks := s.fence(term)
		keys := s.publications()
		ops := append(checks, zk.DeleteOp(s.layout.lock(), zk.AnyVersion), zk.DeleteOp(s.layout.guard(term.Grant), zk.AnyVersion))
		first := len(ops)
		for _, key := range keys {
			ops = append(ops, zk.DeleteOp(s.layout.key(key), zk.AnyVersion))
		}
		_, err := s.Multi(ctx, ops...)
		if err == nil {
			s.forget(keys...)
			return nil
		}
		i, refused := refusedAt(err)
		switch {
		case refused && i >= first && errors.Is(err, zk.ErrNoNode):
			// Somebody else has removed it.
			s.forget(keys[i-first])
		case refused && errors.Is(err, zk.ErrNoNode):
			return s.refusal(ctx, term, first, err)
		default:
			return s.refusal(ctx, term, len(checks), err)
		}
	}
}

// publications are the leader records that go with the session.
func (s *session) publications() []coord.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []coord.Key
	for key := range s.published {
		keys = append(keys, key)
	}
	return keys
}

func (s *session) forget(keys ...coord.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.published, key)
	}
}
