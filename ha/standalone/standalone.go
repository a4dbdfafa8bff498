// Package standalone is high availability of type none: the addresses are fixed,
// in the configuration, and the one master leads. Its stores are those of
// ha/embedded, so with a storage folder a master that is started again finds its
// jobs, under a higher epoch; without one it begins anew.
package standalone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/embedded"
)

// Session is the session id that retrieval tells: there is no other.
const Session ha.SessionID = "00000000-0000-0000-0000-000000000000"

// Resolver finds the addresses of a host: a *net.Resolver.
type Resolver interface {
	LookupHost(ctx context.Context, host string) ([]string, error)
}

// New makes services with the system's resolver: it is a ha.Factory.
func New(ctx context.Context, cfg ha.Config) (ha.Services, error) {
	return Factory(net.DefaultResolver)(ctx, cfg)
}

// Factory returns a factory that uses a resolver. With cfg.Resolve each address is
// resolved before anything else, and one that does not resolve is the error.
func Factory(resolver Resolver) ha.Factory {
	return func(ctx context.Context, cfg ha.Config) (ha.Services, error) {
		if err := check(ctx, resolver, cfg); err != nil {
			return nil, err
		}
		inner, err := embedded.New(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return &services{Services: inner, addresses: cfg.Addresses}, nil
	}
}

// check reports all addresses that cannot work at once.
func check(ctx context.Context, resolver Resolver, cfg ha.Config) error {
	var errs []error
	for component, address := range cfg.Addresses {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			errs = append(errs, fmt.Errorf("address of %s, %q: %w: %w", component, address, ha.ErrConfig, err))
			continue
		}
		if !cfg.Resolve {
			continue
		}
		if _, err := resolver.LookupHost(ctx, host); err != nil {
			errs = append(errs, fmt.Errorf("address of %s, %q, does not resolve: %w: %w", component, address, ha.ErrConfig, err))
		}
	}
	return errors.Join(errs...)
}

// services is the embedded one, but for who leads and what workers share.
type services struct {
	ha.Services
	addresses map[string]string

	mu         sync.Mutex
	closed     bool
	retrievals []*retrieval
}

// Retrieval implements ha.Services.
func (s *services) Retrieval(component string) ha.Retrieval {
	r := &retrieval{component: component, address: s.addresses[component]}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retrievals = append(s.retrievals, r)
	r.stopped = s.closed
	return r
}

// Counters implements ha.Services.
func (s *services) Counters() ha.Counters { return counters{} }

// Close implements ha.Services.
func (s *services) Close(ctx context.Context) error {
	s.stop()
	return s.Services.Close(ctx)
}

// CloseAndCleanUp implements ha.Services.
func (s *services) CloseAndCleanUp(ctx context.Context) error {
	s.stop()
	return s.Services.CloseAndCleanUp(ctx)
}

func (s *services) stop() {
	s.mu.Lock()
	s.closed = true
	retrievals := s.retrievals
	s.mu.Unlock()
	for _, r := range retrievals {
		r.Stop()
	}
}

// retrieval tells its listener one address, once.
type retrieval struct {
	component, address string

	mu      sync.Mutex
	started bool
	stopped bool
	telling sync.WaitGroup
}

// Start implements ha.Retrieval.
func (r *retrieval) Start(listener ha.Listener) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.started || r.stopped:
		return fmt.Errorf("retrieval of %s: %w", r.component, ha.ErrStarted)
	case r.address == "":
		return fmt.Errorf("no address of %s is configured, and with high-availability.type none there is no other way to it: %w",
			r.component, ha.ErrConfig)
	}
	r.started = true
	r.telling.Go(func() { listener.LeaderChanged(ha.Leader{Address: r.address, Session: Session}) })
	return nil
}

// Stop implements ha.Retrieval.
func (r *retrieval) Stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.telling.Wait()
}

// counters: without a shared store there is no second witness, and it says so.
type counters struct{}

func noWitness() error {
	return fmt.Errorf("counters: high-availability.type none has no store that processes share: %w", ha.ErrUnavailable)
}

// Write implements ha.Counters.
func (counters) Write(context.Context, ha.WorkerID, uint64) error { return noWitness() }

// Remove implements ha.Counters.
func (counters) Remove(context.Context, ha.WorkerID) error { return nil }

// ReadAll implements ha.Counters.
func (counters) ReadAll(context.Context) (map[ha.WorkerID]uint64, error) { return nil, noWitness() }
