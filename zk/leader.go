package zk

import (
	"context"
	"errors"
	"sync"
)

// LeaderConfig is an election's.
type LeaderConfig struct {
	Client *Client
	// Path is the election's folder, which is made.
	Path string
	// Data is what others see of who leads, its address for instance.
	Data []byte
	// Lead is called when we lead, and leads until it returns or ctx ends, which it
	// has to obey: with the session's trust, with the lock (somebody has removed it),
	// or by Stop. It is never called twice at once.
	Lead func(ctx context.Context, t *Term)
}

// Leader takes part in an election: one of all who do so in the same folder
// leads at a time. A new term starts only when the session of the last one has
// ended or has given the lock back, and with an epoch that is higher.
type Leader struct {
	cfg LeaderConfig
	// id tells our locks from those of others in the same session.
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	run    sync.WaitGroup

	mu      sync.Mutex
	started bool
}

// NewLeader makes one that takes part. It starts nothing.
func NewLeader(cfg LeaderConfig) (*Leader, error) {
	if cfg.Client == nil || cfg.Lead == nil || len(cfg.Path) < 2 {
		return nil, errors.New("zk: an election needs a client, a path and a function that leads")
	}
	l := &Leader{cfg: cfg, id: NewID()}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, nil
}

// Start takes part until Stop, or until ctx ends. It can be called once.
func (l *Leader) Start(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ctx.Err() != nil:
		return ErrStopped
	case l.started:
		return errors.New("zk: the election was started before")
	}
	l.started = true
	unlink := context.AfterFunc(ctx, l.cancel)
	l.run.Go(func() {
		defer unlink()
		l.compete()
	})
	return nil
}

// Stop ends taking part, gives the lock back, and waits for Lead to return. It
// may be called again, and before Start.
func (l *Leader) Stop() {
	l.cancel()
	l.run.Wait()
}

// Current reads what who leads has published; false says that nobody leads.
func (l *Leader) Current(ctx context.Context) ([]byte, bool, error) {
	s, err := l.cfg.Client.Session(ctx)
	if err != nil {
		return nil, false, err
	}
	node, err := s.Lookup(ctx, lockNode(l.cfg.Path))
	if err != nil || !node.Exists {
		return nil, false, err
	}
	_, data := splitLock(node.Data)
	return data, true, nil
}

// compete goes from session to session; only Stop ends it.
func (l *Leader) compete() {
	back := l.cfg.Client.door.backoff()
	for {
		s, err := l.cfg.Client.Session(l.ctx)
		if err != nil {
			return
		}
		l.competeIn(s)
		if back.wait(l.ctx) != nil {
			return
		}
	}
}

// competeIn takes part until the session ends, or something goes wrong.
func (l *Leader) competeIn(s *Session) {
	for node, err := range s.Watch(l.ctx, lockNode(l.cfg.Path)) {
		if err != nil {
			return
		}
		if node.Exists {
			if holder, _ := splitLock(node.Data); holder == l.id && node.Stat.Owner == s.id {
				// A transaction of ours that nobody waits for any more has been done late.
				s.DeleteLater(lockNode(l.cfg.Path), node.Stat.Created)
			}
			continue
		}
		term, err := takeOver(l.ctx, s, l.cfg.Path, l.id, l.cfg.Data)
		if errors.Is(err, ErrNodeExists) || errors.Is(err, ErrBadVersion) {
			continue
		}
		if err != nil {
			return
		}
		l.lead(s, term)
		return
	}
}

// lead leads for one term.
func (l *Leader) lead(s *Session, t *Term) {
	ctx, cancel := s.bound(l.ctx)
	defer cancel(nil)
	var leading sync.WaitGroup
	leading.Go(func() {
		defer cancel(nil)
		l.cfg.Lead(ctx, t)
	})
	for node, err := range s.Watch(ctx, lockNode(l.cfg.Path)) {
		if err == nil && !t.holds(node) {
			cancel(ErrFenced)
		}
	}
	// The watch ends early only when the lock cannot be read.
	cancel(nil)
	leading.Wait()
	t.release()
}
