package storage

// earlySyncSize is how much is written before a file is synced in the
// background. What a sync has to wait for is in good part the disk's own
// cache, which only a sync empties.
const earlySyncSize = 32 << 20

// earlySync syncs a file beside the one who writes it, so that its next sync
// has little left to do. An error of the system comes to the first sync after
// it alone, and may be that of pages that are lost: it is kept, and each later
// sync is refused with it.
type earlySync struct {
	sync    func() error
	written int64
	running chan error // nil when none is under way
	err     error
}

// wrote begins a sync when there is enough for one, and none is under way.
func (e *earlySync) wrote(n int64) {
	e.written += n
	if e.written < earlySyncSize {
		return
	}
	select {
	case err := <-e.running:
		e.running, e.err = nil, err
	default:
	}
	if e.running != nil || e.err != nil {
		return
	}
	e.written = 0
	e.running = make(chan error, 1)
	go func(running chan<- error) { running <- e.sync() }(e.running)
}

// wait returns once none is under way, with the error of the first that failed.
func (e *earlySync) wait() error {
	if e.running != nil {
		e.err = <-e.running
		e.running = nil
	}
	return e.err
}

// now syncs all that was written before.
func (e *earlySync) now() error {
	if err := e.wait(); err != nil {
		return err
	}
	e.written = 0
	e.err = e.sync()
	return e.err
}
