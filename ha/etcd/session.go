package etcd

import (
	"context"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// session implements coord.Session: it is a lease.
type session struct {
	store   *store
	layout  layout
	lease   int64
	timeout time.Duration
	cluster uint64 // the servers' own id of theirs
	changed chan struct{}
	over    chan struct{}

	// alive ends when the session is over: calls do.
	alive context.Context
	end   context.CancelFunc
	// work are the goroutines of lines and watches.
	work    sync.WaitGroup
	closing sync.Once

	mu      sync.Mutex
	isOver  bool
	closed  bool  // there are no more lines
	current *line // the line that calls begin on
	watches watches
	// published are the records of leaders that go with the session.
	published map[coord.Key]bool
}

var _ coord.Session = (*session)(nil)

func newSession(store *store, l *line, lease *pb.LeaseGrantResponse) *session {
	s := &session{
		store: store, layout: store.layout, lease: lease.GetID(), cluster: lease.GetHeader().GetClusterId(),
		timeout: time.Duration(lease.GetTTL()) * time.Second,
		changed: make(chan struct{}, 1), over: make(chan struct{}),
		current: l, watches: newWatches(), published: map[coord.Key]bool{},
	}
	s.alive, s.end = context.WithCancel(context.Background())
	for _, key := range []string{s.layout.lock(), s.layout.epoch()} {
		s.watches.add(&watch{from: []byte(key), signals: s.changed})
	}
	s.attend(l)
	return s
}

// Lease implements coord.Session.
func (s *session) Lease() coord.Lease {
	return coord.Lease{Timeout: s.timeout, Margin: max(s.timeout/10, 100*time.Millisecond)}
}

// Over implements coord.Session.
func (s *session) Over() <-chan struct{} { return s.over }

// Changed implements coord.Session.
func (s *session) Changed() <-chan struct{} { return s.changed }

// patience is how long a renewal may take before its line is left for another. A line
// that has yet to connect has more time, so that a slow store is not asked for ever
// more connections.
func (s *session) patience(l *line) time.Duration {
	if l.proven.Load() {
		return s.timeout / 6
	}
	return s.timeout / 4
}

// line is the one that calls begin on; nil: the session is over.
func (s *session) line() *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		return nil
	}
	return s.current
}

// leave begins a line to another member, unless that was done. Calls that are under
// way on the old one may still be answered, for a while.
func (s *session) leave(old *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.current != old {
		return
	}
	l, err := s.store.connect()
	if err != nil {
		return // an address that is none: it was checked
	}
	s.current = l
	old.retire()
	s.attend(l)
}

// attend serves the watches on a line, and closes it when its time has come. The
// caller holds mu, or the session is new.
func (s *session) attend(l *line) {
	s.work.Go(func() {
		s.serveWatches(l)
		coord.Pause(s.alive, s.timeout/4)
		l.close()
	})
}

// call makes a call on the present line, and draws from its error what that says of
// the line and of the session.
func (s *session) call(ctx context.Context, do func(ctx context.Context, l *line) error) (*line, bool, error) {
	l := s.line()
	if l == nil {
		return nil, false, coord.ErrSessionOver
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.alive, cancel)()
	sent, err := l.call(ctx, func(ctx context.Context) error { return do(ctx, l) })
	switch {
	case err == nil || ctx.Err() != nil:
	case leaseGone(err):
		s.finish()
	case memberFails(err):
		s.leave(l)
	}
	return l, sent, err
}

// read makes a call that changes nothing.
func (s *session) read(ctx context.Context, do func(ctx context.Context, l *line) error) error {
	l, _, err := s.call(ctx, do)
	return s.readFailure(l, err)
}

// Renew implements coord.Session. The store's leader answers keep-alives, but who
// was the leader until lately may do so too: one that was stopped for a while, or is
// cut off from the others. So the proof is a keep-alive and, after it, a linearizable
// read, which the member says are of one term of its raft: whoever answered the
// keep-alive did still lead then. With a fence the read has to find the lock.
func (s *session) Renew(ctx context.Context, fence ha.Term) error {
	return s.read(ctx, func(ctx context.Context, l *line) error {
		defer time.AfterFunc(s.patience(l), func() { s.leave(l) }).Stop()
		term, err := s.keepAlive(ctx, l)
		if err != nil {
			return err
		}
		answer, err := pb.NewKVClient(l.conn).Txn(ctx, &pb.TxnRequest{
			Success: []*pb.RequestOp{get(s.layout.lock()), get(s.layout.epoch())},
		})
		if err != nil {
			return err
		}
		if now := answer.GetHeader().GetRaftTerm(); now != term {
			return fmt.Errorf("%w: the store's leader has changed meanwhile", ha.ErrUnavailable)
		}
		l.proven.Store(true)
		return s.fenced(fence, got(answer, 0), got(answer, 1))
	})
}

// keepAlive has the lease renewed, and returns the raft term of the member before
// that.
func (s *session) keepAlive(ctx context.Context, l *line) (uint64, error) {
	stream, err := pb.NewLeaseClient(l.conn).LeaseKeepAlive(ctx)
	if err != nil {
		return 0, err
	}
	if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: s.lease}); err != nil {
		// Only the stream's end says why.
		_, err = stream.Recv()
		return 0, err
	}
	answer, err := stream.Recv()
	switch {
	case err != nil:
		return 0, err
	case answer.GetHeader().GetClusterId() != s.cluster:
		return 0, fmt.Errorf("%w: it belongs to another etcd than the others: check high-availability.%s",
			ha.ErrConfig, endpointsKey)
	case answer.GetTTL() <= 0:
		return 0, errLeaseGone
	}
	return answer.GetHeader().GetRaftTerm(), nil
}

// finish notes that the session is over; false: it was.
func (s *session) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		return false
	}
	s.isOver = true
	close(s.over)
	s.end()
	return true
}

// Close implements coord.Session.
func (s *session) Close(ctx context.Context) error {
	s.closing.Do(func() {
		if s.finish() {
			s.revoke(ctx)
		}
		s.mu.Lock()
		s.closed = true
		last := s.current
		s.mu.Unlock()
		last.close()
	})
	s.work.Wait()
	return nil
}

// revoke ends the lease, and all that goes with it, if the store can be reached by
// the end of ctx.
func (s *session) revoke(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		l := s.current
		s.mu.Unlock()
		attempt, cancel := context.WithTimeout(ctx, s.patience(l))
		_, err := l.call(attempt, func(ctx context.Context) error {
			_, err := pb.NewLeaseClient(l.conn).LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: s.lease})
			return err
		})
		cancel()
		if err == nil || leaseGone(err) {
			return
		}
		s.leave(l)
		coord.Pause(ctx, retryWait)
	}
}

// retryWait is between attempts that are repeated for ever.
const retryWait = 100 * time.Millisecond
