package hatest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

// Grant is what a contender was told.
type Grant struct {
	Ctx  context.Context
	ID   ha.SessionID
	Term ha.Term
}

// Contender records what it is told, and lets a test wait for it.
type Contender struct {
	election ha.Election
	// OnGrant and OnRevoke, if set, are called in the course of the callbacks.
	OnGrant  func(g Grant) error
	OnRevoke func()

	record
	grants  []Grant
	revoked int
	errs    []error
}

// record is a state that tests wait for changes of.
type record struct {
	mu      sync.Mutex
	changed chan struct{}
}

// update changes the state.
func (r *record) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	if r.changed != nil {
		close(r.changed)
	}
	r.changed = make(chan struct{})
}

// await waits until a condition of the state holds.
func (r *record) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		r.mu.Lock()
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		ok, changed := holds(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("waited too long: %s", what)
		}
	}
}

// NewContender returns one that does nothing but record.
func NewContender(election ha.Election) *Contender { return &Contender{election: election} }

// Grant implements ha.Contender.
func (c *Contender) Grant(ctx context.Context, id ha.SessionID, term ha.Term) error {
	g := Grant{Ctx: ctx, ID: id, Term: term}
	c.update(func() { c.grants = append(c.grants, g) })
	if c.OnGrant != nil {
		return c.OnGrant(g)
	}
	return nil
}

// Revoke implements ha.Contender.
func (c *Contender) Revoke() {
	if c.OnRevoke != nil {
		c.OnRevoke()
	}
	c.update(func() { c.revoked++ })
}

// Error implements ha.Contender.
func (c *Contender) Error(err error) {
	c.update(func() { c.errs = append(c.errs, err) })
}

// Leads waits until the contender has a grant that was not revoked.
func (c *Contender) Leads(t *testing.T) Grant {
	t.Helper()
	c.await(t, "a grant", func() bool { return len(c.grants) > c.revoked })
	return c.Last()
}

// Follows waits until the contender has no grant.
func (c *Contender) Follows(t *testing.T) {
	t.Helper()
	c.await(t, "the grant's end", func() bool { return len(c.grants) == c.revoked })
}

// Granted waits for the n-th grant.
func (c *Contender) Granted(t *testing.T, n int) Grant {
	t.Helper()
	c.await(t, "one more grant", func() bool { return len(c.grants) >= n })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grants[n-1]
}

// Last returns the last grant.
func (c *Contender) Last() Grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grants[len(c.grants)-1]
}

// Count tells how often it was granted and revoked.
func (c *Contender) Count() (granted, revoked int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.grants), c.revoked
}

// Told waits for an error that is as wanted.
func (c *Contender) Told(t *testing.T, is func(error) bool) {
	t.Helper()
	c.await(t, "an error", func() bool { return slices.ContainsFunc(c.errs, is) })
}

// Listener records what it is told.
type Listener struct {
	record
	told []ha.Leader
	errs []error
}

// LeaderChanged implements ha.Listener.
func (l *Listener) LeaderChanged(leader ha.Leader) {
	l.update(func() { l.told = append(l.told, leader) })
}

// Error implements ha.Listener.
func (l *Listener) Error(err error) { l.update(func() { l.errs = append(l.errs, err) }) }

// Hears waits until the last it was told is as wanted.
func (l *Listener) Hears(t *testing.T, what string, is func(ha.Leader) bool) ha.Leader {
	t.Helper()
	var leader ha.Leader
	l.await(t, what, func() bool {
		if len(l.told) == 0 {
			return false
		}
		leader = l.told[len(l.told)-1]
		return is(leader)
	})
	return leader
}

// Told returns all it was told.
func (l *Listener) Told() []ha.Leader {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// NeverTwice fails if the same was told twice in a row.
func (l *Listener) NeverTwice(t *testing.T) {
	t.Helper()
	told := l.Told()
	last := ha.Leader{}
	for _, leader := range told {
		if leader == last {
			t.Errorf("told the same twice: %+v", told)
		}
		last = leader
	}
}
