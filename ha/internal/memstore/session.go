package memstore

import (
	"context"
	"errors"
	"sync"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// session implements coord.Session.
type session struct {
	client  *Client
	id      uint64
	changed chan struct{} // capacity 1
	over    chan struct{}
	closed  chan struct{}
	watches sync.WaitGroup

	mu       sync.Mutex
	isOver   bool
	isClosed bool
	dead     bool                   // the server has ended it
	missed   map[chan struct{}]bool // signals that a cut has held back
}

var _ coord.Session = (*session)(nil)

// Lease implements coord.Session.
func (s *session) Lease() coord.Lease {
	return coord.Lease{Timeout: s.client.server.timeout, Margin: s.client.server.margin}
}

// Over implements coord.Session.
func (s *session) Over() <-chan struct{} { return s.over }

// Changed implements coord.Session.
func (s *session) Changed() <-chan struct{} { return s.changed }

// signal passes a watch's signal on, unless the client is cut off. The server
// calls it with its lock held.
func (s *session) signal(c chan struct{}) {
	s.client.mu.Lock()
	cut := s.client.cut
	s.client.mu.Unlock()
	if cut {
		s.mu.Lock()
		if s.missed == nil {
			s.missed = map[chan struct{}]bool{}
		}
		s.missed[c] = true
		s.mu.Unlock()
		return
	}
	coord.Wake(c)
}

// ended is called by the server, with its lock held.
func (s *session) ended() {
	s.client.mu.Lock()
	cut := s.client.cut
	s.client.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	if !cut {
		s.finish()
	}
}

// finish closes over. mu is held.
func (s *session) finish() {
	if !s.isOver {
		s.isOver = true
		close(s.over)
	}
}

// reconnected passes on what a cut has held back. The client's lock is held.
func (s *session) reconnected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.missed {
		coord.Wake(c)
	}
	s.missed = nil
	if s.dead {
		s.finish()
	}
}

// read carries out what changes nothing.
func (s *session) read(ctx context.Context, do func(*Server) error) error {
	if err := s.client.pass(ctx, s.over); err != nil {
		return s.named(err)
	}
	return do(s.client.server)
}

// write carries out what changes something, if the request arrives; if its reply
// does not, nobody knows.
func (s *session) write(ctx context.Context, do func(*Server) error) error {
	if ctx.Err() != nil || s.named(nil) != nil {
		return s.named(ha.ErrUnavailable)
	}
	if err := s.client.pass(ctx, s.over); err != nil {
		return errors.Join(ha.ErrAmbiguous, s.named(nil))
	}
	err := do(s.client.server)
	if lost := s.client.reply(); lost != nil {
		return lost
	}
	return err
}

// named makes an error say that the session is over, if it is.
func (s *session) named(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		return coord.ErrSessionOver
	}
	return err
}

// Renew implements coord.Session.
func (s *session) Renew(ctx context.Context, fence ha.Term) error {
	err := s.read(ctx, func(srv *Server) error { return srv.renew(s.id, fence) })
	if err == nil {
		s.client.mu.Lock()
		defer s.client.mu.Unlock()
		if s.client.cut {
			return ha.ErrUnavailable
		}
	}
	return err
}

// Look implements coord.Session.
func (s *session) Look(ctx context.Context) (holder coord.Holder, err error) {
	err = s.read(ctx, func(srv *Server) error {
		holder, err = srv.look(s.id)
		return err
	})
	return holder, err
}

// TakeOver implements coord.Session.
func (s *session) TakeOver(ctx context.Context, claim coord.Claim) (term ha.Term, err error) {
	var stored ha.Epoch
	var version int64
	if err := s.read(ctx, func(srv *Server) (err error) {
		stored, version, err = srv.stored(s.id)
		return err
	}); err != nil {
		return ha.Term{}, err
	}
	number, err := claim.Next(ctx, stored)
	if err != nil {
		return ha.Term{}, err
	}
	err = s.write(ctx, func(srv *Server) error {
		term, err = srv.takeOver(s.id, claim, number, version)
		return err
	})
	if err != nil {
		return ha.Term{}, err
	}
	return term, nil
}

// Release implements coord.Session.
func (s *session) Release(ctx context.Context, term ha.Term) error {
	return s.write(ctx, func(srv *Server) error { return srv.release(s.id, term) })
}

// Publish implements coord.Session.
func (s *session) Publish(ctx context.Context, term ha.Term, key coord.Key, value []byte) error {
	return s.write(ctx, func(srv *Server) error { return srv.publish(s.id, term, key, value) })
}

// Withdraw implements coord.Session.
func (s *session) Withdraw(ctx context.Context, key coord.Key) error {
	return s.write(ctx, func(srv *Server) error { return srv.withdraw(s.id, key) })
}

// Get implements coord.Session.
func (s *session) Get(ctx context.Context, key coord.Key) (record coord.Record, err error) {
	err = s.read(ctx, func(srv *Server) error {
		record, err = srv.get(s.id, key)
		return err
	})
	return record, err
}

// List implements coord.Session.
func (s *session) List(ctx context.Context, folder string) (records []coord.Record, err error) {
	err = s.read(ctx, func(srv *Server) error {
		records, err = srv.list(s.id, folder)
		return err
	})
	return records, err
}

// Write implements coord.Session.
func (s *session) Write(ctx context.Context, term ha.Term, ops ...coord.Op) error {
	return s.write(ctx, func(srv *Server) error { return srv.write(s.id, term, ops) })
}

// Watch implements coord.Session.
func (s *session) Watch(ctx context.Context, key coord.Key) (<-chan struct{}, error) {
	var w *watch
	if err := s.read(ctx, func(srv *Server) (err error) {
		w, err = srv.watch(ctx, s.id, key)
		return err
	}); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed {
		return nil, coord.ErrSessionOver
	}
	signals := make(chan struct{}, 1)
	s.watches.Go(func() {
		defer close(signals)
		defer s.client.server.unwatch(s.id, w)
		for {
			select {
			case <-w.signal:
				coord.Wake(signals)
			case <-s.over:
				return
			case <-ctx.Done():
				return
			}
		}
	})
	return signals, nil
}

// Clean implements coord.Session.
func (s *session) Clean(ctx context.Context) error {
	return s.write(ctx, func(srv *Server) error { return srv.clean(s.id) })
}

// Close implements coord.Session.
func (s *session) Close(context.Context) error {
	s.client.mu.Lock()
	cut := s.client.cut
	delete(s.client.sessions, s)
	s.client.mu.Unlock()
	s.mu.Lock()
	s.isClosed = true
	s.finish()
	s.mu.Unlock()
	if !cut {
		s.client.server.end(s.id)
	}
	s.watches.Wait()
	return nil
}
