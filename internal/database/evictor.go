package database

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Patience is how long a lock of ours may be held against us before its holder
// is ended (exactness rule 2).
const Patience = 5 * time.Second

// Evictor ends the sessions that hold locks of ours for too long: they are of
// writers of ours, alive, stopped or dead.
type Evictor struct {
	Log      *slog.Logger
	Patience time.Duration
}

// During runs wait, which may wait for a lock. When that lasts, end is called
// again and again from another goroutine: it ends who holds the lock, and says who.
func (e *Evictor) During(ctx context.Context, end func(ctx context.Context) (ended string, err error), wait func() error) error {
	watched, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { e.watch(watched, end) })
	err := wait()
	cancel()
	watch.Wait()
	return err
}

func (e *Evictor) watch(ctx context.Context, end func(ctx context.Context) (string, error)) {
	timer := time.NewTimer(e.Patience)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		ended, err := end(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.Log.Warn("end who holds a lock of the job", "error", err)
		case ended != "":
			e.Log.Warn("ended sessions that held a lock of the job", "ids", ended)
		}
		timer.Reset(e.Patience / 5)
	}
}
