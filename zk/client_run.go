package zk

import (
	"context"
	"errors"
)

// run makes one session after the other until the client is stopped.
func (c *Client) run() {
	for {
		s, err := c.establish()
		if err != nil {
			c.give(nil, err)
			return
		}
		unlink := context.AfterFunc(c.ctx, func() { s.stop(ErrStopped) })
		c.cfg.Logger.Info("session with ZooKeeper opened", "session", s.id, "timeout", s.timeout)
		c.give(s, nil)
		<-s.Done()
		unlink()
		c.give(nil, nil)
		c.cfg.Logger.Info("session with ZooKeeper ended", "session", s.id, "error", s.Err())
		// What is left of it ends by itself, while the next is made.
		c.running.Go(s.running.Wait)
	}
}

// give publishes a session, that there is none, or that there will be none.
func (c *Client) give(s *Session, fatal error) {
	c.mu.Lock()
	c.session, c.fatal = s, fatal
	if s != nil {
		c.trouble = nil
	}
	c.mu.Unlock()
	c.tell()
}

// establish asks the servers for a session until one gives it. The error says
// that there will never be one.
func (c *Client) establish() (*Session, error) {
	back := c.door.backoff()
	for {
		s, err := c.door.session(c.ctx, back.rounds, c.tell)
		if err == nil {
			return s, nil
		}
		if c.ctx.Err() != nil {
			return nil, ErrStopped
		}
		if errors.Is(err, ErrAuthFailed) {
			return nil, err
		}
		c.note(err)
		if !endsRound(err) {
			continue
		}
		if back.wait(c.ctx) != nil {
			return nil, ErrStopped
		}
	}
}

func (c *Client) note(trouble error) {
	c.mu.Lock()
	c.trouble = trouble
	c.mu.Unlock()
	c.cfg.Logger.Debug("no session with ZooKeeper yet", "error", trouble)
}
