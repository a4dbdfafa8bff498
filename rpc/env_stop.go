package rpc

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Stop ends the Env in order: nothing more is accepted, what was accepted is
// handled, each endpoint's OnStop runs, what they have sent over connections that
// are up is written, and the connections end. It may be called several times and
// before Start.
//
// When ctx or Config.StopTimeout ends first, handlers' contexts and connections
// end at once, and the error names the endpoints that have not come to an end;
// their goroutines are left behind. Called with the context of one of the Env's
// own handlers, Stop only begins: a handler cannot wait for its own end.
func (env *Env) Stop(ctx context.Context) error {
	env.Shutdown()
	if _, ok := inHandlerOf(ctx, env); ok {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, env.cfg.StopTimeout,
		within(env.cfg.StopTimeout, context.DeadlineExceeded))
	defer cancel()
	select {
	case <-env.done:
		return nil
	case <-ctx.Done():
	}
	env.force()
	<-env.done
	env.mu.RLock()
	defer env.mu.RUnlock()
	if env.stopErr != nil {
		return fmt.Errorf("stop env: %w: %w", context.Cause(ctx), env.stopErr)
	}
	return nil
}

// Shutdown begins a Stop and does not wait: [Env.Done] tells its end.
func (env *Env) Shutdown() {
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.stopping {
		return
	}
	env.stopping = true
	go env.end()
}

// Done is closed when the Env has stopped.
func (env *Env) Done() <-chan struct{} { return env.done }

// end carries the stop out.
func (env *Env) end() {
	defer close(env.done)
	env.mu.RLock()
	listed, listener, addr := env.listed, env.listener, env.addr
	env.mu.RUnlock()
	if listener != nil {
		_ = listener.Close()
	}
	for _, in := range listed {
		in.stop(stoppedAt(addr))
	}
	env.janitor.sweep()
	stuck := env.waitForInboxes(listed)
	env.closing.Store(true)
	for _, o := range env.liveOutboxes() {
		o.shut(stoppedAt(addr))
	}
	env.halt()
	env.linkMu.Lock()
	env.halted = true
	env.linkMu.Unlock()
	env.waitForLinks()
	env.force()
	env.dispatcher.close()
	env.mu.Lock()
	env.stopErr = stuck
	env.mu.Unlock()
}

// waitForInboxes waits for all endpoints, or until the Env is forced to end, and
// names those that are not done.
func (env *Env) waitForInboxes(listed []*inbox) error {
	var stuck []string
	for _, in := range listed {
		select {
		case <-in.done:
			continue
		case <-env.forced.Done():
		}
		in.cancel()
	}
	if env.forced.Err() == nil {
		return nil
	}
	// Handlers that heed their context are about to end.
	grace := time.NewTimer(50 * time.Millisecond)
	defer grace.Stop()
	for _, in := range listed {
		select {
		case <-in.done:
			continue
		default:
		}
		select {
		case <-in.done:
		case <-grace.C:
			grace.Reset(0)
			stuck = append(stuck, in.name)
		}
	}
	if len(stuck) == 0 {
		return nil
	}
	slices.SortFunc(stuck, strings.Compare)
	return fmt.Errorf("still in their handlers: %s", strings.Join(stuck, ", "))
}

// waitForLinks waits until all connections have ended in order, or ends them.
func (env *Env) waitForLinks() {
	ended := make(chan struct{})
	go func() {
		env.working.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return
	case <-env.forced.Done():
	}
	for _, l := range env.openLinks() {
		l.close(ErrStopped)
	}
	<-ended
}

// liveOutboxes are the outboxes that something may still be queued in.
func (env *Env) liveOutboxes() []*outbox {
	var all []*outbox
	env.refMu.Lock()
	for _, w := range env.outboxes {
		if o := w.Value(); o != nil {
			all = append(all, o)
		}
	}
	env.refMu.Unlock()
	for _, l := range env.openLinks() {
		if !slices.Contains(all, l.out) {
			all = append(all, l.out)
		}
	}
	return all
}

func (env *Env) openLinks() []*link {
	env.linkMu.Lock()
	defer env.linkMu.Unlock()
	all := make([]*link, 0, len(env.links))
	for l := range env.links {
		all = append(all, l)
	}
	return all
}

// track lists a connection; one that comes up while the Env ends is closed.
func (env *Env) track(l *link) {
	env.linkMu.Lock()
	env.links[l] = struct{}{}
	halted := env.halted
	env.linkMu.Unlock()
	if halted {
		l.close(ErrStopped)
	}
}

func (env *Env) untrack(l *link) {
	env.linkMu.Lock()
	defer env.linkMu.Unlock()
	delete(env.links, l)
}
