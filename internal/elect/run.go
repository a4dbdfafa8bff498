package elect

import (
	"context"
	"time"

	"github.com/leatdata/leat/ha"
)

// run is the command under one grant.
type run struct {
	cfg    *setup
	term   ha.Term
	lease  func() (ha.Lease, bool)
	orders chan order
	done   chan struct{}

	guard  *guard
	until  deadlines
	result ending
}

// ending is how a run has ended, when nothing of the command is left.
type ending struct {
	of    *run
	began time.Time
	// code is as a shell has it.
	code int
	// failed is why the command could not be run.
	failed string
	// lost says that the command was ended because the leadership was, or could not
	// be relied on any more; why says it in words.
	lost bool
	why  string
}

func newRun(cfg *setup, term ha.Term, lease func() (ha.Lease, bool)) *run {
	return &run{cfg: cfg, term: term, lease: lease, orders: make(chan order), done: make(chan struct{})}
}

// order passes something on to the watcher, if there still is one.
func (r *run) order(o order) {
	select {
	case r.orders <- o:
	case <-r.done:
	}
}

// serve runs the command to its end, which comes at the latest when ctx ends.
func (r *run) serve(ctx context.Context, environ []string, turn string) ending {
	defer close(r.done)
	r.result = ending{of: r, began: time.Now()}
	if !r.renew() {
		r.give("the leadership had ended before the command was started")
		return r.result
	}
	guard, err := newGuard(r.cfg, environ)
	if err != nil {
		r.give(err.Error())
		return r.result
	}
	r.guard = guard
	until := r.until
	guard.tell(order{Begin: &begin{Grace: r.cfg.Grace, Turn: turn}, Until: &until})
	ended := r.follow(ctx)
	guard.close(ended)
	if !ended {
		r.result.code = 128 + 9
		r.give("the command's watcher has ended")
	}
	return r.result
}

// follow carries on until the watcher has said that nothing is left; false: it
// ended without that.
func (r *run) follow(ctx context.Context) bool {
	look := time.NewTimer(r.interval())
	defer look.Stop()
	over := ctx.Done()
	for {
		select {
		case heard, ok := <-r.guard.reports:
			if !ok {
				return false
			}
			if r.hear(heard) {
				return true
			}
		case o := <-r.orders:
			r.guard.tell(o)
		case <-look.C:
			if r.renew() {
				until := r.until
				r.guard.tell(order{Until: &until})
			}
			if bootTime() >= r.until.Kill+again {
				r.guard.destroy() // the watcher should have
			}
			look.Reset(r.interval())
		case <-over:
			// Others may lead at any moment, whatever the deadlines are.
			over = nil
			r.give("the leadership was lost")
			r.guard.tell(order{Kill: true})
			r.until.Kill = min(r.until.Kill, bootTime()+again)
			look.Reset(again)
		}
	}
}

// hear takes a report in; true: it was the last.
func (r *run) hear(heard report) bool {
	switch {
	case heard.Started != 0:
		r.cfg.Logger.Info("the command runs", "epoch", uint64(r.term.Epoch), "pid", heard.Started)
	case heard.Doubted:
		r.give("no renewal has succeeded in time")
		r.cfg.Logger.Warn("no renewal has succeeded in time: the command is ended", "epoch", uint64(r.term.Epoch))
	case heard.Failed != "":
		r.result.failed, r.result.code = heard.Failed, heard.Code
	case heard.Ended:
		if r.result.failed == "" {
			r.result.code = heard.Code
		}
		return true
	}
	return false
}

// give says why the command is ended; the first reason counts.
func (r *run) give(why string) {
	if !r.result.lost {
		r.result.lost, r.result.why = true, why
	}
}

// renew asks how long the grant can be trusted; true: for longer than before.
func (r *run) renew() bool {
	now := bootTime() // first: what follows is not later than thought
	lease, ok := r.lease()
	if !ok {
		return false
	}
	next := deadlinesOf(now, lease)
	longer := next.Kill > r.until.Kill
	if longer {
		r.until = next
	}
	return longer
}

// deadlinesOf are the command's, of a lease that was asked for at a time.
func deadlinesOf(now time.Duration, l ha.Lease) deadlines {
	d := deadlines{Term: now - l.Age + l.Timeout*6/10, Kill: now + l.Left - l.Timeout/40}
	d.Term = min(d.Term, d.Kill)
	return d
}

// interval is when to look for a renewal again: they come every T/6. It is a clock
// of our own that is read, nothing else.
func (r *run) interval() time.Duration {
	lease, ok := r.lease()
	switch {
	case !ok:
		return again
	case lease.Age > lease.Timeout/3: // there should have been one
		return max(lease.Timeout/200, time.Millisecond)
	}
	return max(lease.Timeout/24, time.Millisecond)
}
