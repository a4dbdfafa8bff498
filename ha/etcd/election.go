package etcd

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// latch is the lock and the epoch at one moment; nil: not there.
type latch struct{ lock, epoch *mvccpb.KeyValue }

// readLatch reads both.
func (s *session) readLatch(ctx context.Context) (now latch, err error) {
	err = s.read(ctx, func(ctx context.Context, l *line) error {
		answer, err := pb.NewKVClient(l.conn).Txn(ctx, &pb.TxnRequest{
			Success: []*pb.RequestOp{get(s.layout.lock()), get(s.layout.epoch())},
		})
		now = latch{got(answer, 0), got(answer, 1)}
		return err
	})
	return now, err
}

// last is the last take-over.
func (n latch) last() (coord.EpochRecord, error) {
	if n.epoch == nil {
		return coord.EpochRecord{}, nil
	}
	return coord.DecodeEpoch(n.epoch.GetValue())
}

// Look implements coord.Session.
func (s *session) Look(ctx context.Context) (coord.Holder, error) {
	now, err := s.readLatch(ctx)
	if err != nil {
		return coord.Holder{}, err
	}
	last, err := now.last()
	if err != nil {
		return coord.Holder{}, err
	}
	return coord.Holder{
		Held: now.lock != nil, Mine: now.lock.GetLease() == s.lease, Last: last,
		Term: ha.Term{Epoch: last.Number, Grant: ha.GrantID(now.lock.GetValue())},
	}, nil
}

// TakeOver implements coord.Session.
func (s *session) TakeOver(ctx context.Context, claim coord.Claim) (ha.Term, error) {
	now, err := s.readLatch(ctx)
	if err == nil && now.lock == nil && now.epoch == nil {
		now, err = s.begin(ctx)
	}
	if err != nil {
		return ha.Term{}, err
	}
	if now.lock != nil {
		return ha.Term{}, coord.ErrHeld
	}
	last, err := now.last()
	if err != nil {
		return ha.Term{}, err
	}
	number, err := claim.Next(ctx, last.Number)
	if err != nil {
		return ha.Term{}, err
	}
	answer, err := s.commit(ctx, &pb.TxnRequest{
		Compare: []*pb.Compare{
			absent(s.layout.lock()),
			// Revisions come back when the store is restored from a copy.
			modifiedAt(s.layout.epoch(), now.epoch.GetModRevision()), holds(s.layout.epoch(), now.epoch.GetValue()),
		},
		Success: []*pb.RequestOp{
			put(s.layout.epoch(), claim.Record(number).Encode(), 0),
			put(s.layout.lock(), []byte(claim.Grant), s.lease),
		},
		Failure: []*pb.RequestOp{get(s.layout.lock())},
	})
	switch {
	case err != nil:
		return ha.Term{}, err
	case answer.GetSucceeded():
		return ha.Term{Epoch: number, Grant: claim.Grant}, nil
	case got(answer, 0) != nil:
		return ha.Term{}, coord.ErrHeld
	}
	return ha.Term{}, fmt.Errorf("take over: the epoch is another by now: %w", ha.ErrConflict)
}

// begin makes the epoch, so that a take-over has a revision to compare: one that is
// not there is not there again after a namespace was made and deleted in between.
func (s *session) begin(ctx context.Context) (latch, error) {
	_, err := s.commit(ctx, &pb.TxnRequest{
		Compare: []*pb.Compare{absent(s.layout.epoch())},
		Success: []*pb.RequestOp{put(s.layout.epoch(), coord.EpochRecord{}.Encode(), 0)},
	})
	if err != nil {
		if errors.Is(err, ha.ErrAmbiguous) {
			// What may have been made is what everybody makes.
			err = fmt.Errorf("%w: %w", ha.ErrConflict, err)
		}
		return latch{}, err
	}
	now, err := s.readLatch(ctx)
	if err == nil && now.epoch == nil {
		err = fmt.Errorf("the epoch was removed: %w", ha.ErrConflict)
	}
	return now, err
}

// Release implements coord.Session.
func (s *session) Release(ctx context.Context, term ha.Term) error {
	keys := s.publications()
	steps := []*pb.RequestOp{remove(s.layout.lock())}
	for _, key := range keys {
		steps = append(steps, remove(s.layout.key(key)))
	}
	err := s.write(ctx, term, nil, steps, nil)
	if err == nil {
		s.forget(keys...)
	}
	return err
}

// fence is the comparisons that a write of a term begins with; none for the zero
// term. The lock's value is the grant's uuid, and is written once; that the lock
// goes with this session keeps out a lock that came back from a copy of the store.
func (s *session) fence(term ha.Term) []*pb.Compare {
	if term.IsZero() {
		return nil
	}
	return []*pb.Compare{holds(s.layout.lock(), []byte(term.Grant)), ownedBy(s.layout.lock(), s.lease)}
}

// fenced judges a term by the lock and the epoch as they were at one moment.
func (s *session) fenced(term ha.Term, lock, epoch *mvccpb.KeyValue) error {
	if term.IsZero() || string(lock.GetValue()) == string(term.Grant) && lock.GetLease() == s.lease {
		return nil
	}
	// Without the number the refusal stands all the same.
	last, _ := latch{epoch: epoch}.last()
	return coord.Refusal(term, last.Number)
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
