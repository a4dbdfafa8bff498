package zk

import (
	"context"
	"errors"
	"slices"
)

// Node is a node as it was at one moment.
type Node struct {
	// Exists says whether there is one; without it, the rest is empty.
	Exists bool
	Data   []byte
	Stat   Stat
}

// same says that nothing has happened to the data of the node in between.
func (n Node) same(other Node) bool {
	return n.Exists == other.Exists && n.Stat.Created == other.Stat.Created && n.Stat.Modified == other.Stat.Modified
}

// Get reads a node; a missing one is [ErrNoNode].
func (s *Session) Get(ctx context.Context, path string) (Node, error) {
	return run(ctx, s, op{name: "get", path: path}, func(l *link) (Node, error) {
		data, st, err := l.conn.Get(s.root.full(path))
		if err != nil {
			return Node{}, err
		}
		return Node{Exists: true, Data: data, Stat: stat(st)}, nil
	})
}

// Lookup reads a node; a missing one is no error.
func (s *Session) Lookup(ctx context.Context, path string) (Node, error) {
	node, err := s.Get(ctx, path)
	if errors.Is(err, ErrNoNode) {
		return Node{}, nil
	}
	return node, err
}

// Exists asks whether there is a node, and for its Stat.
func (s *Session) Exists(ctx context.Context, path string) (Stat, bool, error) {
	node, err := run(ctx, s, op{name: "exists", path: path}, func(l *link) (Node, error) {
		exists, st, err := l.conn.Exists(s.root.full(path))
		if err != nil || !exists {
			return Node{}, err
		}
		return Node{Exists: true, Stat: stat(st)}, nil
	})
	return node.Stat, node.Exists, err
}

// Children reads the names of a node's children, sorted.
func (s *Session) Children(ctx context.Context, path string) ([]string, Stat, error) {
	type result struct {
		names []string
		stat  Stat
	}
	r, err := run(ctx, s, op{name: "children", path: path}, func(l *link) (result, error) {
		names, st, err := l.conn.Children(s.root.full(path))
		if err != nil {
			return result{}, err
		}
		slices.Sort(names)
		return result{names, stat(st)}, nil
	})
	return r.names, r.stat, err
}

// ACL reads a node's access list.
func (s *Session) ACL(ctx context.Context, path string) ([]ACL, error) {
	return run(ctx, s, op{name: "get access list", path: path}, func(l *link) ([]ACL, error) {
		list, _, err := l.conn.GetACL(s.root.full(path))
		if err != nil {
			return nil, err
		}
		return ours(list), nil
	})
}

// Sync waits until the session's server has caught up with the store's leader:
// reads after it see whatever was answered to anybody before it.
func (s *Session) Sync(ctx context.Context) error {
	_, err := run(ctx, s, op{name: "sync"}, syncLink)
	return err
}

// syncLink needs no node: the root is always there.
func syncLink(l *link) (struct{}, error) {
	_, err := l.conn.Sync("/")
	return struct{}{}, err
}

// Settle returns when nothing that was sent before on this session can still be
// applied, and the session's server has caught up: what is read after it says
// what became of an operation that was [ErrAmbiguous].
func (s *Session) Settle(ctx context.Context) error {
	ctx, cancel := s.bound(ctx)
	defer cancel(nil)
	if err := s.strays.wait(ctx); err != nil {
		return &OpError{Op: "settle", Err: err}
	}
	return s.Sync(ctx)
}
