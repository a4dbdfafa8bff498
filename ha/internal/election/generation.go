package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// closeTimeout bounds how long a session that is given up may take to tell the
// store so.
const closeTimeout = 2 * time.Second

// generation is a session and the calls on it.
type generation struct {
	id      uint64
	ctx     context.Context // ends when the session is dropped
	cancel  context.CancelFunc
	session coord.Session // nil: opening
	dropped bool
}

// Link is a session that can be relied on until Down is closed.
type Link struct {
	Session coord.Session
	// Gone ends when what the store has said cannot be trusted any more.
	Gone context.Context
	end  context.CancelFunc
}

// Link returns the present one, or waits for one until ctx ends.
func (e *Elector) Link(ctx context.Context) (*Link, error) {
	for {
		e.mu.Lock()
		link, changed := e.view.link, e.changed
		e.mu.Unlock()
		if link != nil {
			return link, nil
		}
		select {
		case <-changed:
		case <-e.ended:
			return nil, ha.ErrClosed
		case <-ctx.Done():
			return nil, e.without(ctx.Err())
		}
	}
}

// without is the error of who has waited for a session in vain: with what the trouble is.
func (e *Elector) without(end error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.trouble == nil {
		return fmt.Errorf("%w: %w", ha.ErrUnavailable, end)
	}
	return fmt.Errorf("%w: %w: %w", ha.ErrUnavailable, end, e.trouble)
}

// carryOut begins an effect.
func (e *Elector) carryOut(effect Effect) {
	switch f := effect.(type) {
	case Open:
		e.open(f)
	case Drop:
		e.drop(f.Gen)
	case Renew:
		e.renew(f)
	case Look:
		e.call(f.Gen, f.Timeout, func(ctx context.Context, s coord.Session) Event {
			holder, err := s.Look(ctx)
			if err != nil {
				e.report("look", err)
				return LookFailed{Op: f.Op, Cause: causeOf(err)}
			}
			return Looked{Op: f.Op, Holder: holder}
		})
	case Claim:
		e.claim(f)
	case Release:
		e.call(f.Gen, f.Timeout, func(ctx context.Context, s coord.Session) Event {
			if err := s.Release(ctx, f.Term); err != nil {
				e.report("release", err)
				return ReleaseFailed{Op: f.Op, Cause: causeOf(err)}
			}
			return Released{Op: f.Op}
		})
	case LinkUp:
		e.linkUp(f.Gen)
	case LinkDown:
		e.update(func(v *view) {
			v.link.end()
			v.link = nil
		})
	case Grant:
		e.begin(f.Term)
	case Revoke:
		e.cfg.Logger.Info("leadership ends", "epoch", f.Term.Epoch, "reason", f.Reason.String(), "process", e.cfg.Name)
		e.end()
	case Overdue:
		e.overdue(f.Term)
	}
}

// call runs a call on a session on a goroutine of its own, and posts its answer.
func (e *Elector) call(gen uint64, timeout time.Duration, do func(context.Context, coord.Session) Event) {
	g := e.generationOf(gen)
	if g == nil || g.session == nil {
		return // the core does not wait for ever
	}
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(g.ctx, timeout)
		defer cancel()
		e.post(do(ctx, g.session))
	})
}

func (e *Elector) generationOf(id uint64) *generation {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.generation[id]
}

func (e *Elector) open(f Open) {
	g := &generation{id: f.Op}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	e.mu.Lock()
	e.generation[f.Op] = g
	e.mu.Unlock()
	started := e.cfg.Clock.Now()
	e.work.Go(func() {
		ctx, cancel := context.WithTimeout(g.ctx, f.Timeout)
		defer cancel()
		session, err := e.cfg.Store.Open(ctx)
		if err != nil {
			e.mu.Lock()
			e.trouble = err
			e.mu.Unlock()
			e.report("open session", err)
			e.post(OpenFailed{Op: f.Op})
			return
		}
		e.mu.Lock()
		g.session, e.trouble = session, nil
		dropped := g.dropped
		e.mu.Unlock()
		if dropped {
			e.closeSession(g)
			return
		}
		e.post(Opened{Op: f.Op, Lease: session.Lease(), Started: started})
		e.heed(g)
	})
}

// heed passes on what the session notices by itself.
func (e *Elector) heed(g *generation) {
	for {
		select {
		case <-g.session.Changed():
			e.post(Changed{Gen: g.id})
		case <-g.session.Over():
			e.post(Over{Gen: g.id})
			return
		case <-g.ctx.Done():
			return
		}
	}
}

func (e *Elector) drop(gen uint64) {
	e.mu.Lock()
	g := e.generation[gen]
	delete(e.generation, gen)
	opened := false
	if g != nil {
		g.dropped, opened = true, g.session != nil
	}
	e.mu.Unlock()
	if g == nil {
		return
	}
	g.cancel()
	if opened {
		e.work.Go(func() { e.closeSession(g) })
	}
}

func (e *Elector) closeSession(g *generation) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := g.session.Close(ctx); err != nil {
		e.report("close session", err)
	}
}

func (e *Elector) linkUp(gen uint64) {
	g := e.generationOf(gen)
	link := &Link{Session: g.session}
	link.Gone, link.end = context.WithCancel(g.ctx)
	e.update(func(v *view) { v.link = link })
	e.work.Go(func() { e.announce(link) })
}

func (e *Elector) renew(f Renew) {
	started := e.cfg.Clock.Now()
	e.call(f.Gen, f.Timeout, func(ctx context.Context, s coord.Session) Event {
		if err := s.Renew(ctx, f.Fence); err != nil {
			e.report("renew", err)
			return RenewFailed{Gen: f.Gen, Started: started, Fence: f.Fence, Cause: causeOf(err)}
		}
		return Renewed{Gen: f.Gen, Started: started}
	})
}

func (e *Elector) claim(f Claim) {
	e.call(f.Gen, f.Timeout, func(ctx context.Context, s coord.Session) Event {
		term, err := s.TakeOver(ctx, coord.Claim{
			Grant: f.Grant, Name: e.cfg.Name, Since: time.Now(),
			Next: func(ctx context.Context, number ha.Epoch) (ha.Epoch, error) {
				return e.number(ctx, max(number, f.Above))
			},
		})
		if err != nil {
			e.report("take over", err)
			return ClaimFailed{Op: f.Op, Cause: causeOf(err)}
		}
		if e.cfg.BeforeGrant != nil {
			if err := e.cfg.BeforeGrant(ctx, s, term); err != nil {
				e.report("prepare grant", err)
				return ClaimFailed{Op: f.Op, Cause: Unreachable}
			}
		}
		return Claimed{Op: f.Op, Term: term}
	})
}

// number chooses the epoch of a take-over, and marks it as used.
func (e *Elector) number(ctx context.Context, above ha.Epoch) (ha.Epoch, error) {
	marked, err := e.cfg.Marks.Highest(ctx)
	if err != nil {
		return 0, err
	}
	number := max(above, marked) + 1
	return number, e.cfg.Marks.Use(ctx, number)
}

// report logs a failure, and tells contenders what trying again cannot mend.
func (e *Elector) report(doing string, err error) {
	if errors.Is(err, coord.ErrHeld) || errors.Is(err, ha.ErrConflict) || errors.Is(err, context.Canceled) {
		return
	}
	e.cfg.Logger.Warn("election call", "call", doing, "error", err, "process", e.cfg.Name)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.components {
		c.tell(err)
	}
}

func causeOf(err error) Cause {
	switch {
	case errors.Is(err, coord.ErrSessionOver):
		return SessionOver
	case errors.Is(err, ha.ErrFenced):
		return FencedOff
	case errors.Is(err, coord.ErrHeld), errors.Is(err, ha.ErrConflict):
		return Refused
	case errors.Is(err, ha.ErrAmbiguous):
		return Ambiguous
	}
	return Unreachable
}
