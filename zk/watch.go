package zk

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
)

// Children are the names of a node's children, sorted, as they were at one
// moment.
type Children struct {
	// Exists says whether the node itself exists.
	Exists bool
	Names  []string
}

func (c Children) same(other Children) bool {
	return c.Exists == other.Exists && slices.Equal(c.Names, other.Names)
}

// Watch gives the node as it is, and again whenever it is another: it was made,
// removed, or its data was set. Changes that follow closely are one. Nothing is
// lost: the node is read again on each new connection, and from time to time. It
// ends with an error when ctx or the session does, and all runs on the caller's
// goroutine, while it asks for the next.
//
//	for node, err := range session.Watch(ctx, "/leader") {
//		if err != nil {
//			return err
//		}
//		…
//	}
func (s *Session) Watch(ctx context.Context, path string) iter.Seq2[Node, error] {
	return watch(ctx, s, Node.same, func(ctx context.Context) (seen[Node], error) { return s.look(ctx, path) })
}

// Observe is [Session.Watch] that also gives the node when it was read again and is
// the same: something may have happened to it in between. Whoever reads in another
// way too, and has seen what this has not, waits for the next of these: a change after
// that read comes before it.
func (s *Session) Observe(ctx context.Context, path string) iter.Seq2[Node, error] {
	never := func(Node, Node) bool { return false }
	return watch(ctx, s, never, func(ctx context.Context) (seen[Node], error) { return s.look(ctx, path) })
}

// WatchChildren is [Session.Watch] for the list of a node's children.
func (s *Session) WatchChildren(ctx context.Context, path string) iter.Seq2[Children, error] {
	return watch(ctx, s, Children.same, func(ctx context.Context) (seen[Children], error) { return s.list(ctx, path) })
}

// ObserveChildren is [Session.Observe] for the list of a node's children.
func (s *Session) ObserveChildren(ctx context.Context, path string) iter.Seq2[Children, error] {
	never := func(Children, Children) bool { return false }
	return watch(ctx, s, never, func(ctx context.Context) (seen[Children], error) { return s.list(ctx, path) })
}

// seen is what was read, and the alarm of the connection it was read on, which
// was set before.
type seen[T any] struct {
	value T
	link  *link
	key   alarmKey
	alarm alarm
}

func watch[T any](ctx context.Context, s *Session, same func(a, b T) bool, look func(context.Context) (seen[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last T
		for first := true; ; first = false {
			now, err := look(ctx)
			if err != nil {
				yield(last, err)
				return
			}
			if first || !same(now.value, last) {
				last = now.value
				if !yield(last, nil) {
					return
				}
			}
			if err := s.listen(ctx, now.link, now.key, now.alarm); err != nil {
				yield(last, err)
				return
			}
		}
	}
}

// listen waits until there is a reason to look again.
func (s *Session) listen(ctx context.Context, l *link, key alarmKey, a alarm) error {
	resync := time.NewTimer(s.door.cfg.Resync)
	defer resync.Stop()
	select {
	case <-a:
		l.alarms.drop(key, a)
	case <-l.wire.gone:
	case <-resync.C:
	case <-ctx.Done():
		return &OpError{Op: "watch", Path: s.root.own(key.path), Err: cause(ctx)}
	case <-s.ctx.Done():
		return &OpError{Op: "watch", Path: s.root.own(key.path), Err: s.Err()}
	}
	return nil
}

// look reads a node under an alarm for whatever may happen to it.
func (s *Session) look(ctx context.Context, path string) (seen[Node], error) {
	full := s.root.full(path)
	return run(ctx, s, op{name: "watch", path: path}, func(l *link) (seen[Node], error) {
		key := alarmKey{path: full}
		a, err := l.alarmFor(key)
		if err != nil {
			return seen[Node]{}, err
		}
		data, st, err := l.conn.Get(full)
		if err != nil && !errors.Is(err, zookeeper.ErrNoNode) {
			return seen[Node]{}, err
		}
		node := Node{}
		if err == nil {
			node = Node{Exists: true, Data: data, Stat: stat(st)}
		}
		return seen[Node]{node, l, key, a}, nil
	})
}

// alarmFor is the alarm for a node, set if it is not.
func (l *link) alarmFor(key alarmKey) (alarm, error) {
	if a := l.alarms.find(key); a != nil {
		return a, nil
	}
	_, _, events, err := l.conn.ExistsW(key.path)
	if err != nil {
		return nil, err
	}
	l.alarms.add(key, events)
	return events, nil
}

// list reads a node's children under an alarm for their list, or for the node
// while there is none.
func (s *Session) list(ctx context.Context, path string) (seen[Children], error) {
	full := s.root.full(path)
	return run(ctx, s, op{name: "watch children", path: path}, func(l *link) (seen[Children], error) {
		for {
			key := alarmKey{path: full, children: true}
			names, a, err := l.childrenUnder(key)
			if err == nil {
				slices.Sort(names)
				return seen[Children]{Children{true, names}, l, key, a}, nil
			}
			if !errors.Is(err, zookeeper.ErrNoNode) {
				return seen[Children]{}, err
			}
			missing := alarmKey{path: full}
			if a, err = l.alarmFor(missing); err != nil {
				return seen[Children]{}, err
			}
			// It may have been made just before its alarm was set.
			exists, _, err := l.conn.Exists(full)
			if err != nil || !exists {
				return seen[Children]{Children{}, l, missing, a}, err
			}
		}
	})
}

// childrenUnder reads the names of children under an alarm, set if it is not.
func (l *link) childrenUnder(key alarmKey) ([]string, alarm, error) {
	if a := l.alarms.find(key); a != nil {
		names, _, err := l.conn.Children(key.path)
		return names, a, err
	}
	names, _, events, err := l.conn.ChildrenW(key.path)
	if err != nil {
		return nil, nil, err
	}
	l.alarms.add(key, events)
	return names, events, nil
}
