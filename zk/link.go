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

// goodbyeWithin bounds how long the end of a session waits for the store to
// confirm it.
const goodbyeWithin = time.Second

// link is one connection of a session, with a library Conn of its own that never
// makes another: what the library does on a reconnect (replace an expired session,
// send queued requests under the new one, deadlock over credentials, wait for a
// mute server) cannot happen.
type link struct {
	wire   *wire
	conn   *zookeeper.Conn
	dialer *dialer
	// finished is closed when the library's goroutines have ended.
	finished chan struct{}
	alarms   alarms
}

// connect makes a connection in which the session asks for nothing more: its
// credentials are accepted. seen is the session's newest transaction. One server is
// tried, for so long.
func (d *door) connect(ctx context.Context, as identity, seen zxid, within time.Duration) (*link, greeting, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errMute)
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
	d := &dialer{wire: w, hole: newHole(w.greeting), again: make(chan struct{})}
	conn, events, err := zookeeper.Connect([]string{"store:2181"}, timeout,
		zookeeper.WithDialer(d.dial), zookeeper.WithHostProvider(d),
		zookeeper.WithLogger(silent{}), zookeeper.WithLogInfo(false))
	if err != nil {
		return nil, fmt.Errorf("set up the client library: %w", err)
	}
	l := &link{wire: w, conn: conn, dialer: d, finished: make(chan struct{})}
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

// close ends the connection and waits for the library's goroutines; with a
// goodbye, which may take a second, the session and its ephemeral nodes end with it.
func (l *link) close(goodbye bool) {
	if goodbye {
		l.sayGoodbye()
	}
	_ = l.wire.Close()
	// The library has to be done with the connection before it is closed: see hole.
	<-l.dialer.again
	l.conn.Close()
	<-l.finished
}

func (l *link) sayGoodbye() {
	var saying sync.WaitGroup
	saying.Go(l.wire.goodbye)
	late := time.NewTimer(goodbyeWithin)
	defer late.Stop()
	select {
	case <-l.wire.gone:
	case <-late.C:
	}
	// A write that has not come to its end ends with the connection.
	_ = l.wire.Close()
	saying.Wait()
}

// dialer gives the library its one connection, and a hole when it asks for
// another.
type dialer struct {
	wire *wire
	hole *hole
	once sync.Once
	// again is closed when it asks for another.
	again chan struct{}
	asked bool
}

func (*dialer) Init([]string) error  { return nil }
func (*dialer) Len() int             { return 1 }
func (*dialer) Connected()           {}
func (*dialer) Next() (string, bool) { return "store:2181", false }

// dial is called on one goroutine.
func (d *dialer) dial(string, string, time.Duration) (net.Conn, error) {
	if !d.asked {
		d.asked = true
		return d.wire, nil
	}
	d.once.Do(func() { close(d.again) })
	return d.hole, nil
}

// silent is the library's log.
type silent struct{}

func (silent) Printf(string, ...any) {}
