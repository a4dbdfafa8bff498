package zookeeper

import (
	"context"
	"errors"
	"testing"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/internal/testenv"
)

// session opens one as an elector does.
func (c *cluster) session(t *testing.T) coord.Session {
	t.Helper()
	cfg := ha.Config{StorageDir: c.storage, SessionTimeout: steadyTimeout}.WithDefaults()
	store, err := newStore(cfg, Options{Quorum: c.ensemble.Addrs(), Root: c.root}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// take takes the lock over under a number; first is called between the reading of
// the epoch and the writing.
func take(ctx context.Context, s coord.Session, grant ha.GrantID, number ha.Epoch, first func()) (ha.Term, error) {
	return s.TakeOver(ctx, coord.Claim{Grant: grant, Next: func(context.Context, ha.Epoch) (ha.Epoch, error) {
		if first != nil {
			first()
		}
		return number, nil
	}})
}

// Versions start anew in a namespace that was deleted and made again: who has read
// the epoch before must not take it for the same, and set it to a lower number.
func TestATakeOverIsOfTheNamespaceThatWasRead(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.ZooKeeper(t), steadyTimeout)
	a, b := c.session(t), c.session(t)
	turn := func(s coord.Session, grant ha.GrantID, number ha.Epoch) {
		t.Helper()
		term, err := take(t.Context(), s, grant, number, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Release(t.Context(), term); err != nil {
			t.Fatal(err)
		}
	}
	turn(b, "first", 5)
	turn(a, "second", 6)
	term, err := take(t.Context(), a, "late", 7, func() {
		c.wipe()
		// As often as before, so that the versions are the same.
		turn(b, "third", 8)
		turn(b, "fourth", 9)
	})
	if !errors.Is(err, ha.ErrConflict) {
		t.Errorf("taken over: %s, %v", term, err)
	}
	holder, err := b.Look(t.Context())
	if err != nil || holder.Held || holder.Last.Number != 9 {
		t.Errorf("the store is at %+v, %v", holder, err)
	}
	turn(a, "after all", 10)
}

// What a take-over finds missing it makes, also right after the namespace was deleted.
func TestATakeOverInADeletedNamespaceSucceedsAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.ZooKeeper(t), steadyTimeout)
	s := c.session(t)
	for number, grant := range []ha.GrantID{"a", "b"} {
		term, err := take(t.Context(), s, grant, ha.Epoch(number+1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(t.Context(), term, coord.Op{Key: coord.Key{Folder: coord.Results, Name: "j"}}); err != nil {
			t.Error(err)
		}
		c.wipe()
	}
}
