package records

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// counters implements ha.Counters.
type counters struct{ b *Base }

var _ ha.Counters = counters{}

// Counters returns the workers' counters.
func (b *Base) Counters() ha.Counters { return counters{b: b} }

func counterKey(worker ha.WorkerID) coord.Key {
	return coord.Key{Folder: coord.Counters, Name: coord.Escape(string(worker))}
}

// Write implements ha.Counters. It asks once: the next beat is better than a
// late one.
func (c counters) Write(ctx context.Context, worker ha.WorkerID, value uint64) error {
	op := coord.Op{
		Kind: coord.Update, Key: counterKey(worker), Value: strconv.AppendUint(nil, value, 10), Version: coord.AnyVersion,
	}
	err := c.once(ctx, op)
	if errors.Is(err, ha.ErrNotFound) {
		op.Kind = coord.Create
		err = c.once(ctx, op)
	}
	if err != nil {
		return fmt.Errorf("counter of worker %s: %w", worker, err)
	}
	return nil
}

// once carries out an op that no term fences.
func (c counters) once(ctx context.Context, op coord.Op) error {
	link, err := c.b.links.Link(ctx)
	if err != nil {
		return err
	}
	return unavailable(link.Session.Write(ctx, ha.Term{}, op))
}

// Remove implements ha.Counters.
func (c counters) Remove(ctx context.Context, worker ha.WorkerID) error {
	err := c.once(ctx, coord.Op{Kind: coord.Delete, Key: counterKey(worker), Version: coord.AnyVersion})
	if err != nil && !errors.Is(err, ha.ErrNotFound) {
		return fmt.Errorf("remove counter of worker %s: %w", worker, err)
	}
	return nil
}

// ReadAll implements ha.Counters.
func (c counters) ReadAll(ctx context.Context) (map[ha.WorkerID]uint64, error) {
	link, err := c.b.links.Link(ctx)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	records, err := link.Session.List(ctx, coord.Counters)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", unavailable(err))
	}
	if link.Gone.Err() != nil {
		return nil, fmt.Errorf("read counters: our session is over: %w", ha.ErrUnavailable)
	}
	all := make(map[ha.WorkerID]uint64, len(records))
	for _, r := range records {
		name, err := coord.Unescape(r.Key.Name)
		value, err2 := strconv.ParseUint(string(r.Value), 10, 64)
		if errors.Join(err, err2) != nil {
			return nil, fmt.Errorf("counter %s holds %.60q: %w", r.Key, r.Value, ha.ErrCorrupt)
		}
		all[ha.WorkerID(name)] = value
	}
	return all, nil
}
