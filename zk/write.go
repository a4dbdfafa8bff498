package zk

import (
	"context"
	"errors"
	"strings"

	zookeeper "github.com/go-zookeeper/zk"
)

// perRequest is what a request takes beside its paths and data, at most, and
// perEntry what an entry of an access list does.
const (
	perRequest = 64
	perEntry   = 16
)

func (s *Session) acl(list []ACL) []ACL {
	if list == nil {
		return s.door.cfg.ACL
	}
	return list
}

// Create makes a node and returns its path, which differs for a sequential one.
// Without an access list it has [Config.ACL]. It is sent once; see
// [Session.CreateProtected] for one that must not be made twice.
func (s *Session) Create(ctx context.Context, path string, data []byte, mode Mode, acl ...ACL) (string, error) {
	list := s.acl(acl)
	o := op{name: "create", path: path, write: true, size: createSize(path, data, list)}
	return run(ctx, s, o, func(l *link) (string, error) {
		made, err := create(l.conn, s.root.full(path), data, mode, theirs(list))
		if err != nil {
			return "", err
		}
		return s.root.own(made), nil
	})
}

func create(conn *zookeeper.Conn, path string, data []byte, mode Mode, acl []zookeeper.ACL) (string, error) {
	if mode == Container {
		return conn.CreateContainer(path, data, int32(mode), acl)
	}
	return conn.Create(path, data, int32(mode), acl)
}

func createSize(path string, data []byte, acl []ACL) int {
	n := perRequest + len(path) + len(data)
	for _, a := range acl {
		n += perEntry + len(a.Scheme) + len(a.ID)
	}
	return n
}

// Set replaces a node's data if it has that version, or any.
func (s *Session) Set(ctx context.Context, path string, data []byte, version int32) (Stat, error) {
	o := op{name: "set", path: path, write: true, size: perRequest + len(path) + len(data)}
	return run(ctx, s, o, func(l *link) (Stat, error) {
		st, err := l.conn.Set(s.root.full(path), data, version)
		if err != nil {
			return Stat{}, err
		}
		return stat(st), nil
	})
}

// Delete removes a node without children if it has that version, or any.
func (s *Session) Delete(ctx context.Context, path string, version int32) error {
	_, err := run(ctx, s, op{name: "delete", path: path, write: true}, func(l *link) (struct{}, error) {
		return struct{}{}, l.conn.Delete(s.root.full(path), version)
	})
	return err
}

// SetACL replaces a node's access list.
func (s *Session) SetACL(ctx context.Context, path string, acl []ACL) error {
	o := op{name: "set access list", path: path, write: true, size: createSize(path, nil, acl)}
	_, err := run(ctx, s, o, func(l *link) (struct{}, error) {
		_, err := l.conn.SetACL(s.root.full(path), theirs(acl), AnyVersion)
		return struct{}{}, err
	})
	return err
}

// EnsurePath makes a node, with those above it, if they are missing. It may be
// called by many at once; that it was done twice makes no difference, so a lost
// answer is asked for again.
func (s *Session) EnsurePath(ctx context.Context, path string, acl ...ACL) error {
	full := s.root.full(path)
	if full == "/" {
		return nil
	}
	if s.ensured(ctx, full) {
		return nil
	}
	for at := 1; at <= len(full); at++ {
		if at < len(full) && full[at] != '/' {
			continue
		}
		if err := s.ensure(ctx, full[:at], s.acl(acl)); err != nil {
			return err
		}
	}
	return nil
}

// ensured says that the node is there, the usual case.
func (s *Session) ensured(ctx context.Context, full string) bool {
	exists, err := run(ctx, s, op{name: "exists", path: full}, func(l *link) (bool, error) {
		exists, _, err := l.conn.Exists(full)
		return exists, err
	})
	return err == nil && exists
}

func (s *Session) ensure(ctx context.Context, full string, acl []ACL) error {
	o := op{name: "create", path: strings.TrimPrefix(full, string(s.root)), size: createSize(full, nil, acl)}
	_, err := run(ctx, s, o, func(l *link) (string, error) {
		return create(l.conn, full, nil, Persistent, theirs(acl))
	})
	if errors.Is(err, ErrNodeExists) {
		return nil
	}
	// Whoever may not create above its own folder may still find it made.
	if errors.Is(err, ErrNoAuth) && s.ensured(ctx, full) {
		return nil
	}
	return err
}
