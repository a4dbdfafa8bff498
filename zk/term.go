package zk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
)

// ErrFenced refuses a write of a leader that leads no more: nothing was changed.
var ErrFenced = errors.New("fenced: this term is over")

// Term is one time of leading. Its epoch is above that of all terms before, as
// long as the folder of the election stands.
type Term struct {
	session *Session
	path    string
	id      string
	epoch   int64
	version int32
	// lock is what the lock holds: the term's id and the holder's, then its data.
	lock []byte
}

// Epoch numbers the terms, from 1 on.
func (t *Term) Epoch() int64 { return t.epoch }

// Session is the one that leads. What is written past [Term.Multi] is not fenced.
func (t *Term) Session() *Session { return t.session }

// Multi does all operations in one transaction if this is still the term, or
// none of them: then the error is [ErrFenced].
func (t *Term) Multi(ctx context.Context, ops ...Op) ([]Result, error) {
	all := append([]Op{CheckOp(epochNode(t.path), t.version), CheckOp(guardNode(t.path, t.id), AnyVersion)}, ops...)
	results, err := t.session.Multi(ctx, all...)
	if err == nil {
		return results[2:], nil
	}
	if multi, ok := errors.AsType[*MultiError](err); ok && multi.Index >= 0 {
		if multi.Index < 2 {
			return nil, &OpError{Op: "multi", Path: t.path, Err: fmt.Errorf("%w (epoch %d): %w", ErrFenced, t.epoch, multi.Err)}
		}
		multi.Index -= 2
	}
	return nil, err
}

// The nodes of an election: the last term's number, the lock of who leads, and a
// node whose name is the term's own: its being there is what a write is
// conditional on, since versions start anew in a folder that was removed.
func epochNode(path string) string     { return join(path, "epoch") }
func lockNode(path string) string      { return join(path, "lock") }
func guardNode(path, id string) string { return join(path, "g-"+id) }

// takeOver takes the lock under a new epoch, in one transaction, for the holder
// of that id. ErrNodeExists and ErrBadVersion say that somebody else was quicker.
func takeOver(ctx context.Context, s *Session, path, holder string, data []byte) (*Term, error) {
	stored, version, err := readEpoch(ctx, s, path)
	if err != nil {
		return nil, err
	}
	t := &Term{session: s, path: path, id: NewID(), epoch: stored + 1, version: version + 1}
	t.lock = fmt.Appendf(nil, "%s %s\n%s", t.id, holder, data)
	_, err = s.Multi(ctx,
		SetOp(epochNode(path), strconv.AppendInt(nil, t.epoch, 10), version),
		CreateOp(lockNode(path), t.lock, Ephemeral),
		CreateOp(guardNode(path, t.id), nil, Ephemeral))
	switch {
	case err == nil:
		return t, nil
	case !errors.Is(err, ErrAmbiguous):
		return nil, err
	}
	if settleErr := s.Settle(ctx); settleErr != nil {
		t.release()
		return nil, errors.Join(err, settleErr)
	}
	node, lookErr := s.Lookup(ctx, lockNode(path))
	switch {
	case lookErr != nil:
		t.release()
		return nil, errors.Join(err, lookErr)
	case !t.holds(node):
		return nil, &OpError{Op: "take over", Path: path, Err: ErrNodeExists}
	}
	return t, nil
}

// holds says that the lock is this term's, in this session.
func (t *Term) holds(lock Node) bool {
	return lock.Exists && lock.Stat.Owner == t.session.id && string(lock.Data) == string(t.lock)
}

// readEpoch reads the number and its node's version; a missing one is made.
func readEpoch(ctx context.Context, s *Session, path string) (number int64, version int32, err error) {
	node, err := s.Get(ctx, epochNode(path))
	if errors.Is(err, ErrNoNode) {
		if err := s.EnsurePath(ctx, path); err != nil {
			return 0, 0, err
		}
		if _, err := s.Create(ctx, epochNode(path), []byte("0"), Persistent); err != nil && !errors.Is(err, ErrNodeExists) {
			return 0, 0, err
		}
		node, err = s.Get(ctx, epochNode(path))
	}
	if err != nil {
		return 0, 0, err
	}
	number, err = strconv.ParseInt(string(node.Data), 10, 64)
	if err != nil || number < 0 {
		return 0, 0, &OpError{Op: "read epoch", Path: path, Err: fmt.Errorf("the node holds %.40q: %w", node.Data, ErrBadArguments)}
	}
	return number, node.Stat.Version, nil
}

// release gives the lock back, as long as the session lives: once nothing can
// take it any more that was sent before.
func (t *Term) release() {
	t.session.background(func(ctx context.Context) error {
		if err := t.session.strays.wait(ctx); err != nil {
			return err
		}
		_, err := t.session.Multi(ctx,
			CheckOp(guardNode(t.path, t.id), AnyVersion),
			DeleteOp(lockNode(t.path), AnyVersion),
			DeleteOp(guardNode(t.path, t.id), AnyVersion))
		if errors.Is(err, ErrNoNode) {
			return nil
		}
		return err
	})
}

// splitLock cuts what a lock holds into the holder's id and its data.
func splitLock(lock []byte) (holder string, data []byte) {
	head, data, _ := bytes.Cut(lock, []byte("\n"))
	_, id, _ := bytes.Cut(head, []byte(" "))
	return string(id), data
}
