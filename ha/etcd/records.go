package etcd

import (
	"context"
	"errors"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// page is how many records of a folder are read at once.
const page = 256

// Get implements coord.Session.
func (s *session) Get(ctx context.Context, key coord.Key) (coord.Record, error) {
	var found []*mvccpb.KeyValue
	err := s.read(ctx, func(ctx context.Context, l *line) error {
		answer, err := pb.NewKVClient(l.conn).Range(ctx, &pb.RangeRequest{Key: []byte(s.layout.key(key))})
		found = answer.GetKvs()
		return err
	})
	switch {
	case err != nil:
		return coord.Record{}, fmt.Errorf("read %s: %w", key, err)
	case len(found) == 0:
		return coord.Record{}, fmt.Errorf("%s: %w", key, ha.ErrNotFound)
	}
	return record(key, found[0]), nil
}

func record(key coord.Key, kv *mvccpb.KeyValue) coord.Record {
	return coord.Record{Key: key, Value: kv.GetValue(), Version: kv.GetModRevision()}
}

// List implements coord.Session. All pages are of one revision; when that is
// compacted meanwhile, it begins again.
func (s *session) List(ctx context.Context, folder string) ([]coord.Record, error) {
	for {
		records, err := s.list(ctx, folder)
		if err == nil || !errors.Is(err, rpctypes.ErrCompacted) {
			return records, err
		}
	}
}

func (s *session) list(ctx context.Context, folder string) ([]coord.Record, error) {
	prefix := s.layout.folder(folder)
	from, to := below(prefix)
	var records []coord.Record
	for revision := int64(0); ; {
		var answer *pb.RangeResponse
		err := s.read(ctx, func(ctx context.Context, l *line) (err error) {
			answer, err = pb.NewKVClient(l.conn).Range(ctx, &pb.RangeRequest{
				Key: from, RangeEnd: to, Limit: page, Revision: revision,
			})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", folder, err)
		}
		for _, kv := range answer.GetKvs() {
			key := coord.Key{Folder: folder, Name: string(kv.GetKey()[len(prefix):])}
			records = append(records, record(key, kv))
			from = append(kv.GetKey(), 0)
		}
		if !answer.GetMore() {
			return records, nil
		}
		if revision == 0 {
			revision = answer.GetHeader().GetRevision()
		}
	}
}

// Write implements coord.Session.
func (s *session) Write(ctx context.Context, term ha.Term, ops ...coord.Op) error {
	var compares []*pb.Compare
	var steps []*pb.RequestOp
	for _, op := range ops {
		key := s.layout.key(op.Key)
		switch {
		case op.Kind == coord.Create:
			compares = append(compares, absent(key))
		case op.Version == coord.AnyVersion:
			compares = append(compares, present(key))
		default:
			compares = append(compares, modifiedAt(key, op.Version))
		}
		if op.Kind == coord.Delete {
			steps = append(steps, remove(key))
		} else {
			steps = append(steps, put(key, op.Value, 0))
		}
	}
	return s.write(ctx, term, compares, steps, ops)
}

// write makes one transaction, fenced by a term. ops are what the comparisons are of,
// to name the one that fails.
func (s *session) write(
	ctx context.Context, term ha.Term, compares []*pb.Compare, steps []*pb.RequestOp, ops []coord.Op,
) error {
	otherwise := []*pb.RequestOp{get(s.layout.lock()), get(s.layout.epoch())}
	for _, op := range ops {
		otherwise = append(otherwise, get(s.layout.key(op.Key)))
	}
	answer, err := s.commit(ctx, &pb.TxnRequest{
		Compare: append(s.fence(term), compares...), Success: steps, Failure: otherwise,
	})
	if err != nil || answer.GetSucceeded() {
		return err
	}
	if err := s.fenced(term, got(answer, 0), got(answer, 1)); err != nil {
		return err
	}
	for i, op := range ops {
		if cause := refused(op, got(answer, 2+i)); cause != nil {
			return &coord.OpError{Op: op, Cause: cause}
		}
	}
	return fmt.Errorf("%w: a transaction was refused for no reason", ha.ErrConflict)
}

// refused is why an op is not possible on a record as it is; nil: it is.
func refused(op coord.Op, now *mvccpb.KeyValue) error {
	switch {
	case op.Kind == coord.Create && now != nil:
		return ha.ErrExists
	case op.Kind == coord.Create:
		return nil
	case now == nil:
		return ha.ErrNotFound
	case op.Version != coord.AnyVersion && op.Version != now.GetModRevision():
		return ha.ErrConflict
	}
	return nil
}

// commit makes a transaction that changes something.
func (s *session) commit(ctx context.Context, txn *pb.TxnRequest) (answer *pb.TxnResponse, err error) {
	if ctx.Err() != nil {
		return nil, errors.Join(ha.ErrUnavailable, ctx.Err())
	}
	l, sent, err := s.call(ctx, func(ctx context.Context, l *line) (err error) {
		answer, err = pb.NewKVClient(l.conn).Txn(ctx, txn)
		return err
	})
	return answer, s.writeFailure(l, sent, err)
}

// Publish implements coord.Session.
func (s *session) Publish(ctx context.Context, term ha.Term, key coord.Key, value []byte) error {
	if !term.IsZero() {
		s.mu.Lock()
		s.published[key] = true
		s.mu.Unlock()
	}
	return s.write(ctx, term, nil, []*pb.RequestOp{put(s.layout.key(key), value, s.lease)}, nil)
}

// Withdraw implements coord.Session.
func (s *session) Withdraw(ctx context.Context, key coord.Key) error {
	path := s.layout.key(key)
	_, err := s.commit(ctx, &pb.TxnRequest{
		Compare: []*pb.Compare{ownedBy(path, s.lease)}, Success: []*pb.RequestOp{remove(path)},
	})
	if err == nil {
		s.forget(key)
	}
	return err
}

// Clean implements coord.Session.
func (s *session) Clean(ctx context.Context) error {
	from, to := below(s.layout.all())
	l, sent, err := s.call(ctx, func(ctx context.Context, l *line) error {
		_, err := pb.NewKVClient(l.conn).DeleteRange(ctx, &pb.DeleteRangeRequest{Key: from, RangeEnd: to})
		return err
	})
	return s.writeFailure(l, sent, err)
}
