package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/zk"
)

// readers is how many records of a folder are read at once.
const readers = 32

// Get implements coord.Session.
func (s *session) Get(ctx context.Context, key coord.Key) (coord.Record, error) {
	if err := s.Sync(ctx); err != nil {
		return coord.Record{}, s.failure(err)
	}
	record, exists, err := s.read(ctx, key)
	if err == nil && !exists {
		err = fmt.Errorf("%s: %w", key, ha.ErrNotFound)
	}
	return record, err
}

func (s *session) read(ctx context.Context, key coord.Key) (coord.Record, bool, error) {
	node, err := s.Lookup(ctx, s.layout.key(key))
	if err != nil || !node.Exists {
		return coord.Record{}, false, s.failure(err)
	}
	return coord.Record{Key: key, Value: node.Data, Version: int64(node.Stat.Version)}, true, nil
}

// List implements coord.Session.
func (s *session) List(ctx context.Context, folder string) ([]coord.Record, error) {
	if err := s.Sync(ctx); err != nil {
		return nil, s.failure(err)
	}
	names, _, err := s.Children(ctx, s.layout.folder(folder))
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failure(err)
	}
	found := make([]*coord.Record, len(names))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, name := range names {
		group.Go(func() error {
			record, exists, err := s.read(groupCtx, coord.Key{Folder: folder, Name: name})
			if exists {
				found[i] = &record
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var records []coord.Record
	for _, r := range found {
		if r != nil {
			records = append(records, *r)
		}
	}
	return records, nil
}

// Write implements coord.Session.
func (s *session) Write(ctx context.Context, term ha.Term, ops ...coord.Op) error {
	checks := s.fence(term)
	all := checks
	for _, op := range ops {
		all = append(all, s.op(op))
	}
	return s.retry(ctx, func() (bool, error) {
		_, err := s.Multi(ctx, all...)
		i, refused := refusedAt(err)
		if !refused || i < len(checks) {
			return false, s.refusal(ctx, term, len(checks), err)
		}
		op := ops[i-len(checks)]
		if op.Kind == coord.Create && errors.Is(err, zk.ErrNoNode) {
			return s.missed(ctx, s.layout.key(op.Key), err)
		}
		return false, &coord.OpError{Op: op, Cause: s.failure(err)}
	})
}

// op is a step of a transaction.
func (s *session) op(o coord.Op) zk.Op {
	path := s.layout.key(o.Key)
	switch o.Kind {
	case coord.Create:
		return zk.CreateOp(path, o.Value, zk.Persistent)
	case coord.Update:
		return zk.SetOp(path, o.Value, int32(o.Version))
	default:
		return zk.DeleteOp(path, int32(o.Version))
	}
}

// Clean implements coord.Session.
func (s *session) Clean(ctx context.Context) error {
	return s.retry(ctx, func() (bool, error) {
		err := s.remove(ctx, "/")
		// Somebody still writes below it.
		return errors.Is(err, zk.ErrNotEmpty), s.failure(err)
	})
}

// remove removes a node with all below it.
func (s *session) remove(ctx context.Context, path string) error {
	names, _, err := s.Children(ctx, path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		child := path + "/" + name
		if path == "/" {
			child = "/" + name
		}
		if err := s.remove(ctx, child); err != nil {
			return err
		}
	}
	if err := s.Delete(ctx, path, zk.AnyVersion); !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	return nil
}
