package election

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/leatdata/leat/ha"
)

// maxErrors bounds what a contender that does not listen has queued.
const maxErrors = 16

// Component is one component's part: it implements ha.Election.
type Component struct {
	e    *Elector
	name string
	left chan struct{} // closed when the last callback has returned
	quit chan struct{} // closed by Stop
	told chan struct{} // capacity 1: there are errs

	mu        sync.Mutex
	contender ha.Contender // nil: not started
	stopped   bool
	unhealthy bool
	errs      []error
	serving   *grant
	id        ha.SessionID
	ctx       context.Context // of what is served
	cancel    context.CancelFunc
	address   string // confirmed
}

var _ ha.Election = (*Component)(nil)

// Component returns the one of a name.
func (e *Elector) Component(name string) *Component {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, ok := e.components[name]
	if !ok {
		c = &Component{
			e: e, name: name, left: make(chan struct{}),
			quit: make(chan struct{}), told: make(chan struct{}, 1),
		}
		e.components[name] = c
	}
	return c
}

// Start implements ha.Election.
func (c *Component) Start(contender ha.Contender) error {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.e.stopping {
		return fmt.Errorf("election of %s: %w", c.name, ha.ErrClosed)
	}
	c.mu.Lock()
	if c.contender != nil || c.stopped {
		c.mu.Unlock()
		return fmt.Errorf("election of %s: %w", c.name, ha.ErrStarted)
	}
	c.contender = contender
	c.mu.Unlock()
	c.e.work.Go(c.run)
	c.e.competeLocked()
	return nil
}

// Stop implements ha.Election.
func (c *Component) Stop(ctx context.Context) error {
	c.mu.Lock()
	first, started := !c.stopped, c.contender != nil
	c.stopped = true
	if first {
		close(c.quit)
		if c.cancel != nil {
			c.cancel()
		}
	}
	c.mu.Unlock()
	if !started {
		return nil
	}
	c.e.compete()
	select {
	case <-c.left:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("election of %s: callbacks still run: %w", c.name, ctx.Err())
	}
}

// Withdraw takes all components out, and waits as their Stop does.
func (e *Elector) Withdraw(ctx context.Context) error {
	e.mu.Lock()
	components := slices.Collect(maps.Values(e.components))
	e.mu.Unlock()
	for _, c := range components {
		if err := c.Stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// SetHealthy implements ha.Election.
func (c *Component) SetHealthy(healthy bool) {
	c.mu.Lock()
	c.unhealthy = !healthy
	c.mu.Unlock()
	c.e.compete()
}

// compete tells the core whether the process takes part.
func (e *Elector) compete() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.competeLocked()
}

func (e *Elector) competeLocked() {
	some, all := false, true
	for _, c := range e.components {
		c.mu.Lock()
		if c.contender != nil && !c.stopped {
			some = true
			all = all && !c.unhealthy
		}
		c.mu.Unlock()
	}
	on := some && all
	if on == e.view.competing {
		return
	}
	e.view.competing = on
	e.events = append(e.events, Compete{On: on})
	e.signalLocked()
	e.broadcastLocked()
}

// Resign implements ha.Election.
func (c *Component) Resign(id ha.SessionID, cause error) {
	c.mu.Lock()
	g := c.serving
	issued := g != nil && id == c.id
	c.mu.Unlock()
	if !issued {
		return
	}
	c.e.cfg.Logger.Warn("component resigns", "component", c.name, "epoch", g.term.Epoch, "error", cause)
	c.e.post(Resign{Grant: g.term.Grant})
}

// HasLeadership implements ha.Election.
func (c *Component) HasLeadership(id ha.SessionID) bool {
	c.mu.Lock()
	issued := c.serving != nil && id == c.id && c.ctx.Err() == nil
	c.mu.Unlock()
	if !issued {
		return false
	}
	_, trusted := c.Lease()
	return trusted
}

// Lease implements ha.Election.
func (c *Component) Lease() (ha.Lease, bool) {
	now := c.e.cfg.Clock.Now()
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	v := c.e.view
	if v.grant == nil || now >= v.trustEnd || v.grant.ctx.Err() != nil {
		return ha.Lease{}, false
	}
	return ha.Lease{
		Term: v.grant.term, Age: now - v.renewed, Left: v.trustEnd - now, Timeout: v.timeout,
	}, true
}

// run serves grants until the component or the elector stops.
func (c *Component) run() {
	ended := make(chan struct{})
	var errs sync.WaitGroup
	errs.Go(func() { c.deliver(ended) })
	for g := (*grant)(nil); c.await(&g); {
		c.serve(g)
	}
	close(ended)
	errs.Wait()
	close(c.left)
}

// await waits for a grant other than the last one; false: there will be none.
func (c *Component) await(g **grant) bool {
	for {
		c.e.mu.Lock()
		next, changed := c.e.view.grant, c.e.changed
		c.e.mu.Unlock()
		select {
		case <-c.quit:
			return false
		case <-c.e.ended:
			return false
		default:
		}
		if next != nil && next != *g {
			*g = next
			return true
		}
		select {
		case <-changed:
		case <-c.quit:
		case <-c.e.ended:
		}
	}
}

// serve takes the contender through one grant.
func (c *Component) serve(g *grant) {
	if !g.join() {
		return
	}
	defer g.leave()
	id := ha.SessionID(uuid.NewString())
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	c.mu.Lock()
	c.serving, c.id, c.ctx, c.cancel, c.address = g, id, ctx, cancel, ""
	if c.stopped {
		cancel()
	}
	contender := c.contender
	c.mu.Unlock()
	if err := contender.Grant(ctx, id, g.term); err != nil && ctx.Err() == nil {
		c.tell(fmt.Errorf("component %s, epoch %d: %w", c.name, g.term.Epoch, err))
		c.Resign(id, err)
	}
	<-ctx.Done()
	contender.Revoke()
	c.mu.Lock()
	c.serving, c.id = nil, ""
	c.mu.Unlock()
}

// servesLocked says whether callbacks of a term still run.
func (c *Component) servesLocked(term ha.Term) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.serving != nil && c.serving.term == term
}

// tell queues an error for the contender; the oldest give way.
func (c *Component) tell(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.contender == nil {
		return
	}
	if len(c.errs) == maxErrors {
		c.errs = c.errs[1:]
	}
	c.errs = append(c.errs, err)
	select {
	case c.told <- struct{}{}:
	default:
	}
}

// deliver hands errors over until the component has ended.
func (c *Component) deliver(ended <-chan struct{}) {
	for {
		select {
		case <-c.told:
		case <-ended:
			return
		}
		c.mu.Lock()
		errs := c.errs
		c.errs = nil
		c.mu.Unlock()
		for _, err := range errs {
			c.contender.Error(err)
		}
	}
}
