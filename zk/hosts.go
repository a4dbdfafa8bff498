package zk

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// target is one address to connect to: dial is numeric, name is the host as it
// was given, which a certificate must be for.
type target struct{ dial, name string }

// hosts hands out the servers' addresses in turn, in an order that is drawn anew
// for each round. Names are resolved again for each round.
type hosts struct {
	servers []string
	lookup  func(ctx context.Context, host string) ([]string, error)

	mu    sync.Mutex
	queue []target
}

// next is the address to try now, and whether it is the last of a round. It may
// be called by many at once.
func (h *hosts) next(ctx context.Context) (t target, last bool, err error) {
	if t, last, ok := h.pop(); ok {
		return t, last, nil
	}
	round, err := h.resolve(ctx)
	if err != nil {
		return target{}, true, err
	}
	h.mu.Lock()
	h.queue = append(h.queue, round...)
	h.mu.Unlock()
	t, last, ok := h.pop()
	if !ok {
		// Others have taken all: this one is tried twice in a round.
		t, last = round[0], len(round) == 1
	}
	return t, last, nil
}

func (h *hosts) pop() (t target, last, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		return target{}, false, false
	}
	t, h.queue = h.queue[0], h.queue[1:]
	return t, len(h.queue) == 0, true
}

// resolve makes a round. A name that does not resolve is left out, as long as
// there are others.
func (h *hosts) resolve(ctx context.Context) ([]target, error) {
	var round []target
	var errs []error
	for _, server := range h.servers {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			return nil, fmt.Errorf("read server %q: %w", server, err)
		}
		addrs := []string{host}
		if net.ParseIP(host) == nil {
			if addrs, err = h.lookup(ctx, host); err != nil {
				errs = append(errs, fmt.Errorf("resolve server %s: %w", server, err))
				continue
			}
		}
		for _, addr := range addrs {
			round = append(round, target{dial: net.JoinHostPort(addr, port), name: host})
		}
	}
	if len(round) == 0 {
		return nil, errors.Join(errs...)
	}
	rand.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	return round, nil
}
