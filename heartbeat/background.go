package heartbeat

import (
	"context"
	"sync"
)

// background is one goroutine that is started once and waited for.
type background struct {
	mu     sync.Mutex
	phase  phase
	cancel context.CancelFunc
	done   chan struct{}
}

func (b *background) start(ctx context.Context, f func(ctx context.Context)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.phase {
	case phaseStarted:
		return errStarted
	case phaseStopped:
		return ErrStopped
	}
	b.phase = phaseStarted
	ctx, b.cancel = context.WithCancel(ctx)
	done := make(chan struct{})
	b.done = done
	go func() {
		defer close(done)
		f(ctx)
	}()
	return nil
}

func (b *background) stop() {
	b.mu.Lock()
	b.phase = phaseStopped
	cancel, done := b.cancel, b.done
	b.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}
