package zk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// NewID returns a text of 32 hexadecimal digits that nobody else has.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

const protectedPrefix = "_c_"

// CreateProtected makes a node exactly once, whatever becomes of the answers: a
// node whose answer was lost is found and returned, or removed.
//
// A sequential node is known by an own id before its name, "_c_<id>-name-0000000042".
// Another one is known by its data, compared byte for byte, and an ephemeral one by
// its owner too: put something into the data that is this call's alone, a [NewID] at
// best. A node of an earlier session of ours is never taken for this one's.
//
// It goes on until ctx or the session ends. When it fails without having found out,
// what it may have made is removed in the background as long as the session lives; the
// error is then [ErrAmbiguous].
func (s *Session) CreateProtected(ctx context.Context, path string, data []byte, mode Mode, acl ...ACL) (string, error) {
	p := &protected{s: s, path: path, data: data, mode: mode, acl: acl}
	if mode.sequential() {
		dir, name := split(path)
		p.dir, p.prefix = dir, protectedPrefix+NewID()+"-"
		p.path = join(dir, p.prefix+name)
	}
	return p.create(ctx)
}

// protected is one node that is made once.
type protected struct {
	s    *Session
	path string
	data []byte
	mode Mode
	acl  []ACL
	// dir and prefix are where and how a sequential one is found.
	dir, prefix string
}

func (p *protected) create(ctx context.Context) (string, error) {
	back := backoff{first: 10 * time.Millisecond, most: min(time.Second, p.s.timeout/3)}
	for unsure := false; ; {
		made, err := p.s.Create(ctx, p.path, p.data, p.mode, p.acl...)
		switch {
		case err == nil:
			return made, nil
		case errors.Is(err, ErrAmbiguous):
			unsure = true
		case !unsure || !errors.Is(err, ErrNodeExists):
			if unsure && ctx.Err() != nil {
				p.removeLater()
			}
			return "", err
		}
		found, stat, lookErr := p.find(ctx)
		if lookErr != nil {
			p.removeLater()
			return "", &OpError{Op: "create", Path: p.path, Err: errors.Join(err, lookErr), Ambiguous: true}
		}
		if stat.Created != 0 {
			return found, nil
		}
		if errors.Is(err, ErrNodeExists) {
			return "", err
		}
		if err := back.wait(ctx); err != nil {
			return "", &OpError{Op: "create", Path: p.path, Err: err}
		}
	}
}

// find looks for the node once nothing is under way any more; without one the
// Stat is zero.
func (p *protected) find(ctx context.Context) (string, Stat, error) {
	if err := p.s.Settle(ctx); err != nil {
		return "", Stat{}, err
	}
	if !p.mode.sequential() {
		node, err := p.s.Lookup(ctx, p.path)
		if err != nil || !node.Exists || string(node.Data) != string(p.data) {
			return "", Stat{}, err
		}
		if p.mode.ephemeral() && node.Stat.Owner != p.s.id {
			return "", Stat{}, nil
		}
		return p.path, node.Stat, nil
	}
	names, _, err := p.s.Children(ctx, p.dir)
	if err != nil {
		return "", Stat{}, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, p.prefix) {
			continue
		}
		found := join(p.dir, name)
		stat, exists, err := p.s.Exists(ctx, found)
		if err != nil || !exists {
			return "", Stat{}, err
		}
		return found, stat, nil
	}
	return "", Stat{}, nil
}

// removeLater removes the node if it was made, as long as the session lives.
func (p *protected) removeLater() {
	p.s.background(func(ctx context.Context) error {
		found, stat, err := p.find(ctx)
		if err != nil || stat.Created == 0 {
			return err
		}
		if err := p.s.Delete(ctx, found, stat.Version); !errors.Is(err, ErrNoNode) {
			return err
		}
		return nil
	})
}

// DeleteLater removes a node in the background, as long as the session lives,
// however often the connection is lost: for what is no longer wanted and would
// stand in others' way. A node whose Created is another is left alone.
func (s *Session) DeleteLater(path string, created int64) {
	s.background(func(ctx context.Context) error {
		stat, exists, err := s.Exists(ctx, path)
		if err != nil || !exists || stat.Created != created {
			return err
		}
		if err := s.Delete(ctx, path, AnyVersion); !errors.Is(err, ErrNoNode) {
			return err
		}
		return nil
	})
}

// background repeats f until it succeeds, is refused for good, or the session
// has ended.
func (s *Session) background(f func(ctx context.Context) error) {
	if s.ctx.Err() != nil {
		return
	}
	s.running.Go(func() {
		back := backoff{first: 10 * time.Millisecond, most: time.Second}
		for {
			err := f(s.ctx)
			if err == nil || errors.Is(err, ErrNoAuth) || errors.Is(err, ErrNotEmpty) || s.ctx.Err() != nil {
				return
			}
			if back.wait(s.ctx) != nil {
				return
			}
		}
	})
}
