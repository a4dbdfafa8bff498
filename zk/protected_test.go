package zk

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

const zookeeperCreateContainer testenv.ZooKeeperOp = 19

func modes() []Mode {
	return []Mode{Persistent, Ephemeral, PersistentSequential, EphemeralSequential, Container}
}

func opOf(mode Mode) testenv.ZooKeeperOp {
	if mode == Container {
		return zookeeperCreateContainer
	}
	return testenv.ZooKeeperCreate
}

// Created, and the reply lost: the node is found, and there is one.
func TestProtectedCreatesAreDoneOnceThoughTheReplyIsLost(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode.String(), func(t *testing.T) {
			r := newRig(t)
			s, other, ctx := r.open(t, r.only(0, longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
			dropped := r.proxies[0].DropZooKeeperReply(opOf(mode), "/queue/")
			if err := s.EnsurePath(ctx, "/queue"); err != nil {
				t.Fatal(err)
			}
			path, err := s.CreateProtected(ctx, "/queue/n-", []byte(NewID()), mode)
			if err != nil {
				t.Fatal(err)
			}
			happens(t, dropped, "the loss of the reply")
			if err := other.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			names, _, err := other.Children(ctx, "/queue")
			if err != nil || len(names) != 1 || "/queue/"+names[0] != path {
				t.Errorf("made %s, there are %q (%v)", path, names, err)
			}
		})
	}
}

// Whoever has gone before the loss could be resolved leaves nothing.
func TestProtectedCreatesLeaveNothingBehind(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode.String(), func(t *testing.T) {
			r := newRig(t)
			s, other, ctx := r.open(t, r.only(0, longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
			if err := s.EnsurePath(ctx, "/queue"); err != nil {
				t.Fatal(err)
			}
			// The store does it, and its answer is held back.
			r.proxies[0].BlackHoleWay(testenv.ToClient, true)
			short, cancel := context.WithCancel(ctx)
			failed := make(chan error, 1)
			go func() {
				_, err := s.CreateProtected(short, "/queue/n-", []byte(NewID()), mode)
				failed <- err
			}()
			children := other.WatchChildren(ctx, "/queue")
			for c, err := range children {
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Names) == 1 {
					break
				}
			}
			cancel()
			if err := happens(t, failed, "the end of the create"); !errors.Is(err, ErrAmbiguous) || !errors.Is(err, context.Canceled) {
				t.Errorf("the create ended with %v", err)
			}
			r.proxies[0].BlackHoleWay(testenv.ToClient, false)
			for c, err := range children {
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Names) == 0 {
					break
				}
			}
		})
	}
}

// A node of the same name that is somebody else's is never taken for ours.
func TestProtectedCreatesTakeNobodysElseNode(t *testing.T) {
	r := newRig(t)
	s, other, ctx := r.open(t, r.only(0, longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
	for _, mode := range []Mode{Persistent, Ephemeral} {
		path := fmt.Sprintf("/%s", mode)
		if _, err := other.Create(ctx, path, []byte("same"), Ephemeral); err != nil {
			t.Fatal(err)
		}
		data := "same"
		if mode == Persistent {
			data = "other" // it is known by its data alone
		}
		dropped := r.proxies[0].DropZooKeeperReply(testenv.ZooKeeperCreate, path)
		if _, err := s.CreateProtected(ctx, path, []byte(data), mode); !errors.Is(err, ErrNodeExists) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("%s: error is %v", mode, err)
		}
		happens(t, dropped, "the loss of the reply")
		if _, exists, err := other.Exists(ctx, path); err != nil || !exists {
			t.Errorf("%s: the other's node is gone (%v)", mode, err)
		}
	}
}
