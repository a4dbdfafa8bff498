package rpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// Env is one process's part in the conversation: its address, the endpoints
// registered in it, and the outboxes to other processes. All methods may be
// called from any goroutine.
type Env struct {
	cfg      Config
	registry *registry
	bodies   *wire.Bodies
	log      *slog.Logger
	id       id
	local    Peer

	dispatcher *dispatcher
	janitor    janitor
	count      counters
	calls      sync.Pool
	clock      callClock
	scratches  sync.Pool
	sessions   atomic.Uint64
	// closing: no outbox takes anything more.
	closing atomic.Bool
	numbers atomic.Uint64

	// halting ends what has not got a connection yet; forced ends everything.
	halting context.Context
	halt    context.CancelFunc
	forced  context.Context
	force   context.CancelFunc
	done    chan struct{}

	mu       sync.RWMutex
	started  bool
	stopping bool
	addr     Addr
	listener net.Listener
	inboxes  map[string]*inbox
	// listed is inboxes as a list that is never changed, only replaced.
	listed  []*inbox
	stopErr error

	refMu    sync.Mutex
	targets  map[targetKey]weak.Pointer[target]
	outboxes map[Addr]weak.Pointer[outbox]

	linkMu sync.Mutex
	// halted: no goroutine is started any more.
	halted    bool
	working   sync.WaitGroup
	links     map[*link]struct{}
	sources   map[id]*source
	peers     map[peerKey]int
	strangers int
	accepted  int
}

// New makes an Env. It does nothing until an endpoint is registered or it is
// started.
func New(cfg Config) (*Env, error) {
	cfg = cfg.WithDefaults()
	registry, err := newRegistry(cfg.Messages)
	if err := errors.Join(cfg.Validate(), err); err != nil {
		return nil, fmt.Errorf("rpc config: %w", err)
	}
	env := &Env{
		cfg: cfg, registry: registry, bodies: wire.NewBodies(), log: cfg.Logger,
		dispatcher: &dispatcher{keep: cfg.Dispatchers}, done: make(chan struct{}),
		inboxes: map[string]*inbox{}, targets: map[targetKey]weak.Pointer[target]{},
		outboxes: map[Addr]weak.Pointer[outbox]{}, links: map[*link]struct{}{},
		sources: map[id]*source{}, peers: map[peerKey]int{},
	}
	_, _ = rand.Read(env.id[:]) // It never fails: crypto/rand ends the process instead.
	env.addr = cfg.Advertise
	if env.addr == "" {
		env.addr = env.id.addr()
	}
	env.local = Peer{Local: true, id: env.id}
	env.clock.every = cfg.AskTimeout / timeoutTicks
	env.calls.New = func() any { return makeCall(env) }
	env.scratches.New = func() any { return new([]byte) }
	env.forced, env.force = context.WithCancel(context.Background())
	env.halting, env.halt = context.WithCancel(env.forced)
	return env, nil
}

// Start listens, where the config says so. An Env that does not listen needs no
// start to send and to ask.
func (env *Env) Start(ctx context.Context) error {
	env.mu.Lock()
	defer env.mu.Unlock()
	switch {
	case env.stopping:
		return ErrStopped
	case env.started:
		return errors.New("env is started already")
	}
	if env.cfg.Listen != "" {
		listener, err := env.cfg.Transport.Listen(ctx, env.cfg.Listen)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", env.cfg.Listen, err)
		}
		env.listener = listener
		if env.cfg.Advertise == "" {
			env.addr = Addr(listener.Addr().String())
		}
		env.spawn(func() { env.accept(listener) })
	}
	env.started = true
	env.spawn(func() { env.janitor.run(env.halting.Done()) })
	return nil
}

// Addr is the address that peers are told: with a listener it is known once the
// Env is started.
func (env *Env) Addr() Addr {
	env.mu.RLock()
	defer env.mu.RUnlock()
	return env.addr
}

// advertised is Addr for a handshake: nothing without a listener.
func (env *Env) advertised() Addr {
	env.mu.RLock()
	defer env.mu.RUnlock()
	if env.listener == nil {
		return ""
	}
	return env.addr
}

func (env *Env) isStopping() bool {
	env.mu.RLock()
	defer env.mu.RUnlock()
	return env.stopping
}

// spawn starts a goroutine that Stop waits for, unless there is no time left for
// one.
func (env *Env) spawn(f func()) {
	env.linkMu.Lock()
	defer env.linkMu.Unlock()
	if !env.halted {
		env.working.Go(f)
	}
}

// maxScratch bounds the buffers that are kept for encoding.
const maxScratch = 64 << 10

// scratch is a buffer to encode into.
func (env *Env) scratch() *[]byte { return env.scratches.Get().(*[]byte) }

func (env *Env) release(b *[]byte) {
	if cap(*b) <= maxScratch {
		env.scratches.Put(b)
	}
}
