package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// sessions opens connections and keeps the idle ones for the next who asks.
type sessions struct {
	config   *pgconn.Config
	settings string

	mu     sync.Mutex
	idle   []*session
	closed bool
}

// get returns an idle session or opens one.
func (p *sessions) get(ctx context.Context) (*session, error) {
	for {
		p.mu.Lock()
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return connect(ctx, p.config, p.settings)
		}
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if s.Ping(ctx) == nil {
			return s, nil
		}
		s.close()
	}
}

// put takes a session back; one that is not idle is ended.
func (p *sessions) put(s *session) {
	if s.IsClosed() || s.IsBusy() || s.TxStatus() != 'I' {
		s.close()
		return
	}
	p.mu.Lock()
	keep := !p.closed
	if keep {
		p.idle = append(p.idle, s)
	}
	p.mu.Unlock()
	if !keep {
		s.close()
	}
}

// with runs f on a session.
func (p *sessions) with(ctx context.Context, f func(*session) error) error {
	s, err := p.get(ctx)
	if err != nil {
		return err
	}
	defer p.put(s)
	return f(s)
}

// close ends the idle sessions, and those that are put back later.
func (p *sessions) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, s := range idle {
		s.close()
	}
}
