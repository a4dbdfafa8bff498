package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"sync"

	driver "github.com/go-sql-driver/mysql"
)

// maxIdle is the number of idle connections kept for the next who asks.
const maxIdle = 64

// sessions opens connections and keeps the idle ones for the next who asks.
type sessions struct {
	db    *sql.DB
	below *connections
}

// newSessions makes a pool whose connections run the settings first; it does
// not connect.
func newSessions(config *driver.Config, settings ...string) (*sessions, error) {
	if err := config.Apply(driver.Charset("utf8mb4", "")); err != nil {
		return nil, err
	}
	// Statements with parameters take one round trip.
	config.InterpolateParams = true
	inner, err := driver.NewConnector(config)
	if err != nil {
		return nil, usageURL("the driver refuses it")
	}
	below := &connections{of: map[any]*buffered{}}
	db := sql.OpenDB(&settled{Connector: inner, settings: settings, below: below})
	db.SetMaxIdleConns(maxIdle)
	return &sessions{db: db, below: below}, nil
}

// connections are what lies below the driver's.
type connections struct {
	mu sync.Mutex
	of map[any]*buffered
}

// dialledKey finds, in a context, where the connection is left that is dialled.
type dialledKey struct{}

// leave notes a connection for whoever has it dialled.
func leave(ctx context.Context, conn *buffered) {
	if place, ok := ctx.Value(dialledKey{}).(**buffered); ok {
		*place = conn
	}
}

// keep notes what lies below a connection of the driver's, until its end.
func (c *connections) keep(conn any, below *buffered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[conn] = below
	below.closing = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.of, conn)
	}
}

// find returns what lies below a connection of the driver's; nil: not known.
func (c *connections) find(conn any) *buffered {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[conn]
}

// settled makes connections with their settings made.
type settled struct {
	sqldriver.Connector
	settings []string
	below    *connections
}

// Connect implements driver.Connector.
func (c *settled) Connect(ctx context.Context) (sqldriver.Conn, error) {
	var below *buffered
	conn, err := c.Connector.Connect(context.WithValue(ctx, dialledKey{}, &below))
	if err != nil {
		return nil, err
	}
	if below != nil {
		c.below.keep(conn, below)
	}
	execer, ok := conn.(sqldriver.ExecerContext)
	if !ok {
		return nil, errors.New("the driver's connections run no statements")
	}
	for _, s := range c.settings {
		if _, err := execer.ExecContext(ctx, s, nil); err != nil {
			_ = conn.Close()
			return nil, wrap("make the session's settings", err)
		}
	}
	return conn, nil
}

// get returns an idle session or opens one. Idle ones that the server has ended
// meanwhile are passed over by the pool.
func (p *sessions) get(ctx context.Context) (*session, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, wrap("connect to the server", err)
	}
	s, err := newSession(ctx, conn)
	if err != nil {
		return nil, err
	}
	err = conn.Raw(func(driverConn any) error {
		s.below = p.below.find(driverConn)
		return nil
	})
	if err != nil {
		s.close()
		return nil, wrap("connect to the server", err)
	}
	return s, nil
}

// put takes a session back; one with an open transaction is ended.
func (p *sessions) put(s *session) {
	if s.open {
		s.close()
	}
	if !s.ended {
		s.ended = true
		_ = s.conn.Close()
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
func (p *sessions) close() { _ = p.db.Close() }
