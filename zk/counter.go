package zk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Counter gives numbers from a node, each at most once to anybody, whatever
// becomes of the answers: a number whose answer is lost is left out. They grow as
// long as the node is neither removed nor restored from an old copy.
type Counter struct {
	client *Client
	path   string
}

// NewCounter makes a counter whose node is at path. The node is made at the
// first number.
func NewCounter(client *Client, path string) *Counter { return &Counter{client, path} }

// Next gives the next number, from 1 on.
func (c *Counter) Next(ctx context.Context) (int64, error) { return c.Take(ctx, 1) }

// Take gives n numbers that follow each other, and returns the first.
func (c *Counter) Take(ctx context.Context, n int64) (int64, error) {
	if n < 1 {
		return 0, fmt.Errorf("zk: take %d numbers: %w", n, ErrBadArguments)
	}
	back := backoff{first: 5 * time.Millisecond, most: time.Second}
	for {
		first, err := c.try(ctx, n)
		if err == nil {
			return first, nil
		}
		if !again(err) {
			return 0, err
		}
		if waitErr := back.wait(ctx); waitErr != nil {
			return 0, fmt.Errorf("zk: count at %s: %w", c.path, errors.Join(waitErr, err))
		}
	}
}

// again says that another try may succeed: others were quicker, the outcome is
// unknown (what was taken is lost), or the session has ended.
func again(err error) bool {
	switch {
	case errors.Is(err, ErrStopped), errors.Is(err, ErrAuthFailed):
		return false
	case errors.Is(err, ErrBadVersion), errors.Is(err, ErrNoNode), errors.Is(err, ErrAmbiguous), errors.Is(err, ErrSessionEnded):
		return true
	default:
		return false
	}
}

func (c *Counter) try(ctx context.Context, n int64) (int64, error) {
	s, err := c.client.Session(ctx)
	if err != nil {
		return 0, err
	}
	node, err := s.Get(ctx, c.path)
	if errors.Is(err, ErrNoNode) {
		if err := c.make(ctx, s); err != nil {
			return 0, err
		}
		node, err = s.Get(ctx, c.path)
	}
	if err != nil {
		return 0, err
	}
	last, err := strconv.ParseInt(string(node.Data), 10, 64)
	if err != nil || last < 0 || last > math.MaxInt64-n {
		return 0, fmt.Errorf("zk: count at %s: the node holds %.40q: %w", c.path, node.Data, ErrBadArguments)
	}
	if _, err := s.Set(ctx, c.path, strconv.AppendInt(nil, last+n, 10), node.Stat.Version); err != nil {
		return 0, err
	}
	return last + 1, nil
}

func (c *Counter) make(ctx context.Context, s *Session) error {
	dir, _ := split(c.path)
	if err := s.EnsurePath(ctx, dir); err != nil {
		return err
	}
	_, err := s.Create(ctx, c.path, []byte("0"), Persistent)
	if errors.Is(err, ErrNodeExists) {
		return nil
	}
	return err
}
