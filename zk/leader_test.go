package zk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// contender takes part in an election and says when it leads.
type contender struct {
	client *Client
	leader *Leader
	terms  chan *Term
	ended  chan *Term
}

func newContender(t *testing.T, cfg Config, name string) *contender {
	t.Helper()
	c := &contender{client: startClient(t, cfg), terms: make(chan *Term, 100), ended: make(chan *Term, 100)}
	var err error
	c.leader, err = NewLeader(LeaderConfig{
		Client: c.client, Path: "/election", Data: []byte(name),
		Lead: func(ctx context.Context, term *Term) {
			c.terms <- term
			<-ctx.Done()
			c.ended <- term
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.leader.Stop(); c.client.Stop() })
	if err := c.leader.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c
}

// writes makes a write of the term that may be done twice, until its outcome is
// known: a connection may end at any moment, also one that a server gives up since
// a late attempt of ours has moved the session to another.
func writes(t *testing.T, term *Term) error {
	t.Helper()
	if err := term.Session().EnsurePath(bounded(t), "/written"); err != nil {
		return err
	}
	for {
		_, err := term.Multi(bounded(t), SetOp("/written", nil, AnyVersion))
		if !errors.Is(err, ErrAmbiguous) {
			return err
		}
	}
}

func TestLeaderPassesOnWhenStopped(t *testing.T) {
	r := newRig(t)
	ctx := bounded(t)
	first := newContender(t, r.direct(longTimeout), "first")
	one := happens(t, first.terms, "the first term")
	second := newContender(t, r.direct(longTimeout), "second")
	if _, err := one.Multi(ctx, CreateOp("/written", nil, Persistent)); err != nil {
		t.Fatal(err)
	}
	if data, ok, err := second.leader.Current(ctx); err != nil || !ok || string(data) != "first" {
		t.Errorf("who leads is %q, %t (%v)", data, ok, err)
	}
	first.leader.Stop()
	two := happens(t, second.terms, "the second term")
	if two.Epoch() <= one.Epoch() {
		t.Errorf("epoch %d after %d", two.Epoch(), one.Epoch())
	}
	// Its session lives, and yet it writes no more.
	if _, err := one.Multi(ctx, SetOp("/written", []byte("late"), AnyVersion)); !errors.Is(err, ErrFenced) || errors.Is(err, ErrAmbiguous) {
		t.Errorf("a late write: %v", err)
	}
	_, err := two.Multi(ctx, CreateOp("/written", nil, Persistent))
	if multi, ok := errors.AsType[*MultiError](err); !ok || multi.Index != 0 || !errors.Is(err, ErrNodeExists) || errors.Is(err, ErrFenced) {
		t.Errorf("a write that is refused for itself: %v", err)
	}
}

// Cut: nobody else leads before the leader's trust has ended, and somebody does
// after; the cut off one takes part again.
func TestLeaderCutOffEndsBeforeTheNextBegins(t *testing.T) {
	r := newRig(t)
	cut := newContender(t, r.proxied(shortTimeout), "cut")
	one := happens(t, cut.terms, "the first term")
	other := newContender(t, r.direct(shortTimeout), "other")
	r.all(func(p *testenv.Proxy) { p.BlackHole(true) })
	two := happens(t, other.terms, "the second term")
	select {
	case <-one.Session().Done():
	default:
		t.Error("there are two leaders")
	}
	happens(t, cut.ended, "the end of the first term")
	r.all(func(p *testenv.Proxy) { p.BlackHole(false) })
	if _, err := one.Multi(bounded(t), CreateOp("/late", nil, Persistent)); !errors.Is(err, ErrSessionEnded) {
		t.Errorf("a late write: %v", err)
	}
	other.leader.Stop()
	three := happens(t, cut.terms, "the third term")
	if one.Epoch() >= two.Epoch() || two.Epoch() >= three.Epoch() {
		t.Errorf("epochs are %d, %d, %d", one.Epoch(), two.Epoch(), three.Epoch())
	}
}

// A node of an own earlier session is somebody else's.
func TestLeaderNeverAdoptsTheLockOfAnEarlierSession(t *testing.T) {
	r := newRig(t)
	c := newContender(t, r.proxied(shortTimeout), "one")
	one := happens(t, c.terms, "the first term")
	// The client comes back as soon as its trust has ended, before the store has
	// expired the session, whose goodbye is lost.
	r.all(func(p *testenv.Proxy) { p.BlackHole(true) })
	happens(t, one.Session().Done(), "the end of trust")
	r.all((*testenv.Proxy).CutAll)
	r.all(func(p *testenv.Proxy) { p.BlackHole(false) })
	two := happens(t, c.terms, "the second term")
	if two.Session() == one.Session() || two.Epoch() <= one.Epoch() {
		t.Errorf("the second term is of session %d, epoch %d; the first of %d, %d",
			two.Session().ID(), two.Epoch(), one.Session().ID(), one.Epoch())
	}
	// On a busy machine it may be over already.
	if err := writes(t, two); err != nil && !errors.Is(err, ErrSessionEnded) {
		t.Error(err)
	}
}

// The reply to a take-over is lost: it has led since, or has given it back.
func TestLeaderFindsATakeOverWhoseReplyIsLost(t *testing.T) {
	r := newRig(t)
	dropped := r.proxies[0].DropZooKeeperReply(testenv.ZooKeeperMulti, "/election/lock")
	c := newContender(t, r.only(0, longTimeout), "one")
	term := happens(t, c.terms, "a term")
	happens(t, dropped, "the loss of the reply")
	if term.Epoch() != 1 {
		t.Errorf("epoch is %d: the take-over was repeated", term.Epoch())
	}
	if err := writes(t, term); err != nil {
		t.Error(err)
	}
}

// Everything is deleted under those who take part: they make it anew, and one
// leads.
func TestLeaderSurvivesADeletedTree(t *testing.T) {
	r := newRig(t)
	ctx := bounded(t)
	var all []*contender
	for i := range 3 {
		all = append(all, newContender(t, r.direct(longTimeout), fmt.Sprint(i)))
	}
	terms := make(chan *Term)
	var forwarding sync.WaitGroup
	for _, c := range all {
		forwarding.Go(func() {
			for {
				select {
				case term := <-c.terms:
					select {
					case terms <- term:
					case <-ctx.Done():
						return
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	other := r.open(t, r.direct(longTimeout))
	for range 5 {
		old := happens(t, terms, "a term")
		until(t, "the tree's end", func() bool { return removeAll(ctx, other, "/election") })
		if _, err := old.Multi(ctx, CreateOp("/late", nil, Persistent)); !errors.Is(err, ErrFenced) {
			t.Errorf("a write of a deleted term: %v", err)
		}
	}
	happens(t, terms, "the last term")
}

func removeAll(ctx context.Context, s *Session, path string) bool {
	names, _, err := s.Children(ctx, path)
	if err != nil {
		return errors.Is(err, ErrNoNode)
	}
	var ops []Op
	for _, name := range names {
		ops = append(ops, DeleteOp(path+"/"+name, AnyVersion))
	}
	_, err = s.Multi(ctx, append(ops, DeleteOp(path, AnyVersion))...)
	return err == nil
}

// Flaps of the connection make nobody delete and make nodes for ever.
func TestLeaderStandsThroughFlapsOfTheConnection(t *testing.T) {
	r := newRig(t)
	first := newContender(t, r.proxied(longTimeout), "first")
	one := happens(t, first.terms, "the first term")
	second := newContender(t, r.proxied(longTimeout), "second")
	for range 100 {
		r.all((*testenv.Proxy).CutAll)
		// Both are connected again before the next.
		for _, s := range []*Session{one.Session(), mustSession(t, second.client)} {
			if err := s.Sync(bounded(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := writes(t, one); err != nil {
		t.Errorf("after flaps the first term is over: %v", err)
	}
	if len(first.ended)+len(second.terms) > 0 {
		t.Errorf("%d terms ended, %d began", len(first.ended), len(second.terms))
	}
}
