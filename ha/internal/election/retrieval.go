package election

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leatdata/leat/ha"
)

// Retrieval tells one listener who leads one component: it implements
// ha.Retrieval.
type Retrieval struct {
	e         *Elector
	component string

	mu     sync.Mutex
	cancel context.CancelFunc // nil: not started
	done   chan struct{}

	// Of the goroutine that serves the listener:
	listener ha.Listener
	told     ha.Leader
}

var _ ha.Retrieval = (*Retrieval)(nil)

// Retrieval makes one for a component.
func (e *Elector) Retrieval(component string) *Retrieval {
	return &Retrieval{e: e, component: component, done: make(chan struct{})}
}

// Start implements ha.Retrieval.
func (r *Retrieval) Start(listener ha.Listener) error {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		return fmt.Errorf("retrieval of %s: %w", r.component, ha.ErrStarted)
	}
	if r.e.stopping {
		return fmt.Errorf("retrieval of %s: %w", r.component, ha.ErrClosed)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.listener = cancel, listener
	r.e.work.Go(func() {
		defer close(r.done)
		r.run(ctx)
	})
	return nil
}

// Stop implements ha.Retrieval.
func (r *Retrieval) Stop() {
	r.mu.Lock()
	cancel := r.cancel
	if cancel == nil {
		r.cancel = func() {} // never to be started
		close(r.done)
	}
	r.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	<-r.done
}

// run follows the leader through session after session.
func (r *Retrieval) run(ctx context.Context) {
	for failures := 0; ; failures++ {
		link, err := r.e.Link(ctx)
		if err != nil {
			return
		}
		err = r.follow(ctx, link)
		switch {
		case ctx.Err() != nil:
			return
		case link.Gone.Err() != nil:
			r.tell(ha.Leader{})
			failures = 0
			continue
		case err != nil:
			r.listener.Error(fmt.Errorf("who leads %s: %w", r.component, err))
		}
		Pause(ctx, Backoff(failures))
	}
}

// follow tells of the leader for as long as a session lasts and answers.
func (r *Retrieval) follow(ctx context.Context, link *Link) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(link.Gone, cancel)()
	changes, err := link.Session.Watch(ctx, LeaderKey(r.component))
	if err != nil {
		return err
	}
	resync := time.NewTicker(r.e.cfg.Resync)
	defer resync.Stop()
	for {
		if err := r.read(ctx, link); err != nil {
			return err
		}
		select {
		case _, ok := <-changes:
			if !ok {
				return ctx.Err()
			}
		case <-resync.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *Retrieval) read(ctx context.Context, link *Link) error {
	record, err := link.Session.Get(ctx, LeaderKey(r.component))
	if errors.Is(err, ha.ErrNotFound) {
		r.tell(ha.Leader{})
		return nil
	}
	if err != nil {
		return err
	}
	leader, err := DecodeLeader(record)
	if err != nil {
		return err
	}
	if link.Gone.Err() == nil {
		r.tell(leader)
	}
	return nil
}

func (r *Retrieval) tell(leader ha.Leader) {
	if leader != r.told {
		r.told = leader
		r.listener.LeaderChanged(leader)
	}
}
