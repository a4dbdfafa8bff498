package records

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/ha/internal/election"
)

// tries bounds how often one operation is asked of the store.
const tries = 3

// Links hands out sessions: the elector.
type Links interface {
	Link(ctx context.Context) (*election.Link, error)
	// Refused is told of every write that was fenced.
	Refused(refusal *ha.FencedError)
}

// Base is what the stores of a process share.
type Base struct {
	links  Links
	blobs  ha.Blobs
	keep   int
	logger *slog.Logger

	ctx    context.Context // of what is removed in the background
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	lists map[coord.Key]*list
	jobs  map[ha.JobID]*checkpoints

	doubts doubts
}

// New returns the stores over a store and a place for blobs. keep is how many
// checkpoints a job keeps.
func New(links Links, blobs ha.Blobs, keep int, logger *slog.Logger) *Base {
	b := &Base{
		links: links, blobs: blobs, keep: keep, logger: logger,
		lists: map[coord.Key]*list{}, jobs: map[ha.JobID]*checkpoints{},
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Close ends what runs in the background. What was to be removed is left to the
// next leader.
func (b *Base) Close() {
	b.cancel()
	b.work.Wait()
}

// get reads a record, and again when the store does not answer. A tombstone is none.
func (b *Base) get(ctx context.Context, key coord.Key) (coord.Record, error) {
	record, err := b.raw(ctx, key)
	if err == nil && isTombstone(record.Value) {
		return coord.Record{}, fmt.Errorf("%s: %w", key, ha.ErrNotFound)
	}
	return record, err
}

func (b *Base) raw(ctx context.Context, key coord.Key) (coord.Record, error) {
	var record coord.Record
	err := b.try(ctx, func(s coord.Session) (err error) {
		record, err = s.Get(ctx, key)
		return err
	})
	return record, err
}

func (b *Base) list(ctx context.Context, folder string) ([]coord.Record, error) {
	var records []coord.Record
	err := b.try(ctx, func(s coord.Session) (err error) {
		records, err = s.List(ctx, folder)
		return err
	})
	return slices.DeleteFunc(records, func(r coord.Record) bool { return isTombstone(r.Value) }), err
}

// try repeats what may be repeated.
func (b *Base) try(ctx context.Context, do func(coord.Session) error) error {
	for failures := 0; ; failures++ {
		link, err := b.links.Link(ctx)
		if err != nil {
			return err
		}
		if err = do(link.Session); !passing(err) {
			return err
		}
		if failures == tries-1 || ctx.Err() != nil {
			return unavailable(err)
		}
		election.Pause(ctx, election.Backoff(failures))
	}
}

// passing says that a read may succeed when it is tried again.
func passing(err error) bool {
	return errors.Is(err, ha.ErrUnavailable) || errors.Is(err, coord.ErrSessionOver)
}

// unavailable gives a session's end its public name.
func unavailable(err error) error {
	if errors.Is(err, coord.ErrSessionOver) {
		return fmt.Errorf("%w: %w", ha.ErrUnavailable, err)
	}
	return err
}

// write asks the store once. Only leaders come here, so there must be a term.
func (b *Base) write(ctx context.Context, term ha.Term, ops ...coord.Op) error {
	if term.IsZero() {
		return fmt.Errorf("write %s without a term: %w", ops[0].Key, ha.ErrFenced)
	}
	link, err := b.links.Link(ctx)
	if err != nil {
		return err
	}
	err = link.Session.Write(ctx, term, ops...)
	if refusal, ok := errors.AsType[*ha.FencedError](err); ok {
		b.links.Refused(refusal)
	}
	return unavailable(err)
}

// change makes a record's new value from its old one (nil: there is none), on
// condition that nobody changes it in between. make has to be idempotent: it is
// called again after a conflict and after an ambiguous reply, when old may be
// what it made itself. It returns nil for a record that is to be removed, and
// errUnchanged if there is nothing to do. doubtful says that some write's outcome
// is not known: a nil error settles it.
func (b *Base) change(
	ctx context.Context, term ha.Term, key coord.Key, make func(old []byte) ([]byte, error), also ...coord.Op,
) (doubtful bool, err error) {
	for failures := 0; ; failures++ {
		if err := b.changeOnce(ctx, term, key, make, also); err != nil {
			doubtful = doubtful || errors.Is(err, ha.ErrAmbiguous)
			again := errors.Is(err, ha.ErrAmbiguous) || errors.Is(err, errRaced) || passing(err)
			if !again || failures >= tries-1 || ctx.Err() != nil {
				return doubtful, settled(doubtful, err)
			}
			election.Pause(ctx, election.Backoff(failures))
			continue
		}
		return false, nil
	}
}

// settled makes an error say that an earlier write's outcome is not known. A
// term that is over settles nothing: the write may have come before its end.
func settled(doubtful bool, err error) error {
	if doubtful && !errors.Is(err, ha.ErrAmbiguous) {
		return fmt.Errorf("%w: %w", ha.ErrAmbiguous, err)
	}
	return err
}

var (
	errUnchanged = errors.New("nothing to change")
	errRaced     = errors.New("changed by somebody else at the same time")
)

func (b *Base) changeOnce(
	ctx context.Context, term ha.Term, key coord.Key, make func([]byte) ([]byte, error), also []coord.Op,
) error {
	record, err := b.raw(ctx, key)
	exists := err == nil
	if err != nil && !errors.Is(err, ha.ErrNotFound) {
		return err
	}
	var old []byte
	if exists && !isTombstone(record.Value) {
		old = record.Value
	}
	value, err := make(old)
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return err
	}
	if value == nil && b.doubts.has(term, key) && !(exists && old == nil) {
		value = newTombstone(term)
	}
	op := coord.Op{Kind: coord.Update, Key: key, Value: value, Version: record.Version}
	switch {
	case old == nil && value == nil:
		return nil
	case !exists:
		op.Kind = coord.Create
	case value == nil:
		op.Kind = coord.Delete
	}
	err = b.write(ctx, term, append([]coord.Op{op}, also...)...)
	if errors.Is(err, ha.ErrAmbiguous) {
		b.doubts.add(term, key)
	}
	for _, race := range []error{ha.ErrConflict, ha.ErrExists, ha.ErrNotFound} {
		if errors.Is(err, race) {
			return fmt.Errorf("%w: %w", errRaced, err)
		}
	}
	return err
}

// background runs what nobody waits for, until Close.
func (b *Base) background(doing string, do func(ctx context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	b.work.Go(func() {
		if err := do(b.ctx); err != nil && b.ctx.Err() == nil {
			b.logger.Warn("background work of stores", "work", doing, "error", err)
		}
	})
}

// Clean removes all blobs that a cluster has, but the marks of used epochs.
func (b *Base) Clean(ctx context.Context) error {
	folders := []string{coord.Checkpoints, coord.CheckpointCounter, coord.JobGraphs, coord.Results, mirrors, coord.Cluster}
	for _, folder := range folders {
		blobs, err := b.blobs.List(ctx, folder)
		if err != nil {
			return err
		}
		for _, blob := range blobs {
			if err := b.blobs.Delete(ctx, blob.Key); err != nil {
				return err
			}
		}
	}
	return nil
}
