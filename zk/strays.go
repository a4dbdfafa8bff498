package zk

import (
	"context"
	"sync"
)

// strays counts the operations whose caller has gone before they were answered:
// they may still be sent, and be applied.
type strays struct {
	mu sync.Mutex
	n  int
	// none is closed when n falls to zero, and nil while nobody waits for that.
	none chan struct{}
}

func (s *strays) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
}

func (s *strays) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n--
	if s.n == 0 && s.none != nil {
		close(s.none)
		s.none = nil
	}
}

// wait waits until there is none.
func (s *strays) wait(ctx context.Context) error {
	s.mu.Lock()
	if s.n == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.none == nil {
		s.none = make(chan struct{})
	}
	none := s.none
	s.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return cause(ctx)
	}
}

// interruptedError says that the caller's context ended while an operation was
// under way.
type interruptedError struct{ cause error }

func (e *interruptedError) Error() string { return e.cause.Error() }
func (e *interruptedError) Unwrap() error { return e.cause }

// await runs f, which blocks, until it returns or ctx ends; what is then left of
// it is a stray until it returns.
func await[R any](ctx context.Context, left *strays, f func() (R, error)) (R, error) {
	type result struct {
		r   R
		err error
	}
	out := make(chan result)
	gone := make(chan struct{})
	go func() {
		r, err := f()
		select {
		case out <- result{r, err}:
		case <-gone:
			left.done()
		}
	}()
	select {
	case res := <-out:
		return res.r, res.err
	case <-ctx.Done():
		left.add()
		close(gone)
		var none R
		return none, &interruptedError{cause(ctx)}
	}
}
