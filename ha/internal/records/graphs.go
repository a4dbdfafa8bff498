package records

import (
	"context"
	"fmt"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// graphs implements ha.JobGraphs.
type graphs struct{ b *Base }

var _ ha.JobGraphs = graphs{}

// JobGraphs returns the store of job graphs.
func (b *Base) JobGraphs() ha.JobGraphs { return graphs{b: b} }

func (g graphs) of(job ha.JobID) *list { return g.b.listOf(coord.JobGraphs, string(job), 1) }

// Put implements ha.JobGraphs.
func (g graphs) Put(ctx context.Context, term ha.Term, job ha.JobID, graph []byte) error {
	if err := g.of(job).put(ctx, term, graph); err != nil {
		return fmt.Errorf("graph of job %s: %w", job, err)
	}
	return nil
}

// Recover implements ha.JobGraphs.
func (g graphs) Recover(ctx context.Context, job ha.JobID) ([]byte, error) {
	_, data, err := g.of(job).load(ctx, newest)
	if err != nil {
		return nil, fmt.Errorf("graph of job %s: %w", job, err)
	}
	return data, nil
}

// Remove implements ha.JobGraphs.
func (g graphs) Remove(ctx context.Context, term ha.Term, job ha.JobID) error {
	if err := g.of(job).discard(ctx, term); err != nil {
		return fmt.Errorf("graph of job %s: %w", job, err)
	}
	return nil
}

// List implements ha.JobGraphs.
func (g graphs) List(ctx context.Context) ([]ha.JobID, error) {
	records, err := g.b.list(ctx, coord.JobGraphs)
	if err != nil {
		return nil, fmt.Errorf("list job graphs: %w", err)
	}
	jobs := make([]ha.JobID, 0, len(records))
	for _, r := range records {
		name, err := coord.Unescape(r.Key.Name)
		if err != nil {
			return nil, fmt.Errorf("list job graphs: %s is no job's name: %w", r.Key, ha.ErrCorrupt)
		}
		jobs = append(jobs, ha.JobID(name))
	}
	return jobs, nil
}
