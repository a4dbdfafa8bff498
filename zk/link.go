package zk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
)

// goodbyeWithin bounds how long a connection's end waits for the store to
// confirm it; the library may then take as long again.
const goodbyeWithin = time.Second

// link is one connection of a session, with a library Conn of its own that never
// makes another: what the library does on a reconnect (replace an expired session,
// send queued requests under the new one, deadlock over credentials, wait for a
// mute server) cannot happen.
type link struct {
	wire *wire
	conn *zookeeper.Conn
	// finished is closed when the library's goroutines have ended.
	finished chan struct{}
	alarms   alarms
}

// connect makes a connection in which the session asks for nothing more: its
// credentials are accepted. seen is the session's newest transaction.
func (d *door) connect(ctx context.Context, as identity, seen zxid) (*link, greeting, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.cfg.connectWithin(as.timeout), errMute)
	defer cancel()
	at, last, err := d.hosts.next(ctx)
	if err != nil {
		return nil, greeting{}, &attemptError{last: last, err: err}
	}
	l, g, err := d.try(ctx, at, as, seen)
	if err != nil {
		return nil, greeting{}, &attemptError{server: at, last: last, err: err}
	}
	return l, g, nil
}

func (d *door) try(ctx context.Context, at target, as identity, seen zxid) (*link, greeting, error) {
	conn, err := d.open(ctx, at)
	if err != nil {
		return nil, greeting{}, err
	}
	// Whatever of the following takes too long ends with the connection.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	g, err := greet(conn, as)
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, greeting{}, cause(ctx)
		}
		return nil, greeting{}, err
	}
	l, err := newLink(newWire(conn, g, seen), g.timeout)
	if err != nil {
		_ = conn.Close()
		return nil, greeting{}, err
	}
	if err := l.present(ctx, d.cfg.Auth); err != nil {
		l.close(as.id == 0)
		return nil, greeting{}, err
	}
	if !stop() {
		l.close(as.id == 0)
		return nil, greeting{}, cause(ctx)
	}
	return l, g, nil
}

// newLink gives the connection to a library Conn.
func newLink(w *wire, timeout time.Duration) (*link, error) {
	once := onceDialer{wire: w}
	conn, events, err := zookeeper.Connect([]string{"store:2181"}, timeout,
		zookeeper.WithDialer(once.dial), zookeeper.WithHostProvider(&once),
		zookeeper.WithLogger(silent{}), zookeeper.WithLogInfo(false))
	if err != nil {
		return nil, fmt.Errorf("set up the client library: %w", err)
	}
	l := &link{wire: w, conn: conn, finished: make(chan struct{})}
	go func() {
		defer close(l.finished)
		for range events {
			// They say nothing that the wire does not; the channel's end says that the
			// library's goroutines have ended.
			continue
		}
	}()
	return l, nil
}

// present presents the credentials.
func (l *link) present(ctx context.Context, auth []Auth) error {
	for _, a := range auth {
		_, err := await(ctx, new(strays), func() (struct{}, error) { return struct{}{}, l.conn.AddAuth(a.Scheme, a.Data) })
		if errors.Is(err, zookeeper.ErrAuthFailed) {
			return fmt.Errorf("present %s credentials: %w", a.Scheme, ErrAuthFailed)
		}
		if err != nil {
			return fmt.Errorf("present %s credentials: %w", a.Scheme, err)
		}
	}
	return nil
}

// isGone says that the connection is closed, by either end or the library.
func (l *link) isGone() bool {
	select {
	case <-l.wire.gone:
		return true
	default:
		return false
	}
}

// close ends the connection and waits for the library's goroutines, at most two
// seconds; with a goodbye, the session and its ephemeral nodes end with it.
func (l *link) close(goodbye bool) {
	if !goodbye {
		_ = l.wire.Close()
	}
	var closing sync.WaitGroup
	closing.Go(l.conn.Close)
	if goodbye {
		late := time.NewTimer(goodbyeWithin)
		select {
		case <-l.finished:
		case <-late.C:
		}
		late.Stop()
		_ = l.wire.Close()
	}
	closing.Wait()
	<-l.finished
}

// onceDialer gives the library its one connection, and lets it end when it asks
// for another.
type onceDialer struct {
	wire  *wire
	asked int
}

func (*onceDialer) Init([]string) error { return nil }
func (*onceDialer) Len() int            { return 1 }
func (*onceDialer) Connected()          {}

// Next says at the second call that all servers were tried: the library then
// gives up what is queued, and waits until it is closed.
func (o *onceDialer) Next() (string, bool) {
	o.asked++
	return "store:2181", o.asked > 1
}

func (o *onceDialer) dial(string, string, time.Duration) (net.Conn, error) {
	if o.asked > 1 {
		return nil, errLost
	}
	return o.wire, nil
}

// silent is the library's log.
type silent struct{}

func (silent) Printf(string, ...any) {}
