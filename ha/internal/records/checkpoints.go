package records

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// checkpoints implements ha.Checkpoints for one job.
type checkpoints struct {
	job     ha.JobID
	kept    *list
	counter *counter
}

var _ ha.Checkpoints = (*checkpoints)(nil)

// Checkpoints returns the one of a job.
func (b *Base) Checkpoints(job ha.JobID) ha.Checkpoints {
	kept := b.listOf(coord.Checkpoints, string(job), b.keep)
	b.mu.Lock()
	defer b.mu.Unlock()
	c, ok := b.jobs[job]
	if !ok {
		c = &checkpoints{job: job, kept: kept, counter: newCounter(b, job)}
		b.jobs[job] = c
	}
	return c
}

// NextID implements ha.Checkpoints.
func (c *checkpoints) NextID(ctx context.Context, term ha.Term) (ha.CheckpointID, error) {
	id, err := c.counter.next(ctx, term)
	if err != nil {
		return 0, fmt.Errorf("number a checkpoint of job %s: %w", c.job, err)
	}
	return ha.CheckpointID(id), nil
}

// Add implements ha.Checkpoints.
func (c *checkpoints) Add(ctx context.Context, term ha.Term, p ha.Checkpoint) error {
	if err := c.kept.add(ctx, term, uint64(p.ID), p.Data); err != nil {
		return fmt.Errorf("checkpoint %d of job %s: %w", p.ID, c.job, err)
	}
	return nil
}

// Latest implements ha.Checkpoints.
func (c *checkpoints) Latest(ctx context.Context) (ha.Checkpoint, error) {
	p, data, err := c.kept.load(ctx, newest)
	if err != nil {
		return ha.Checkpoint{}, fmt.Errorf("newest checkpoint of job %s (%d): %w", c.job, p.ID, err)
	}
	return ha.Checkpoint{ID: ha.CheckpointID(p.ID), Data: data}, nil
}

// IDs implements ha.Checkpoints.
func (c *checkpoints) IDs(ctx context.Context) ([]ha.CheckpointID, error) {
	now, err := c.kept.read(ctx)
	if errors.Is(err, ha.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoints of job %s: %w", c.job, err)
	}
	ids := make([]ha.CheckpointID, 0, len(now.Kept))
	for _, k := range now.Kept {
		ids = append(ids, ha.CheckpointID(k.ID))
	}
	return slices.Clip(ids), nil
}

// Get implements ha.Checkpoints.
func (c *checkpoints) Get(ctx context.Context, id ha.CheckpointID) (ha.Checkpoint, error) {
	_, data, err := c.kept.load(ctx, func(p pointers) (pointer, bool) { return p.find(uint64(id)) })
	if err != nil {
		return ha.Checkpoint{}, fmt.Errorf("checkpoint %d of job %s: %w", id, c.job, err)
	}
	return ha.Checkpoint{ID: id, Data: data}, nil
}

// Discard implements ha.Checkpoints.
func (c *checkpoints) Discard(ctx context.Context, term ha.Term) error {
	if err := errors.Join(c.kept.discard(ctx, term), c.counter.discard(ctx, term)); err != nil {
		return fmt.Errorf("discard checkpoints of job %s: %w", c.job, err)
	}
	return nil
}
