package verify

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/job"
)

// Options say how to compare.
type Options struct {
	// Key names the target's columns whose ranges are compared; empty takes
	// the target's key, or the source's.
	Key []string
	// Ranges is the number of ranges to tell apart, 64 by default.
	Ranges int
	// Parallelism is the number of splits read at once on each side; by
	// default half the processors.
	Parallelism int
}

// WithDefaults fills what is zero.
func (o Options) WithDefaults() Options {
	if o.Ranges == 0 {
		o.Ranges = 64
	}
	if o.Parallelism == 0 {
		o.Parallelism = max(1, runtime.GOMAXPROCS(0)/2)
	}
	return o
}

// Content is the number of records of a side or a range, and their hash.
type Content struct {
	Rows int64
	Sum  Sum
}

// Range is a range of keys with what both sides hold in it.
type Range struct {
	// From is the first key of the range, To the first after it, as texts by
	// key column; nil is an open end.
	From, To       []string
	Source, Target Content
}

// Equal reports whether both sides hold the same records in the range.
func (r Range) Equal() bool { return r.Source == r.Target }

// Report is what a comparison found.
type Report struct {
	Source, Target Content
	// Filtered and Dirty are the source's records that a run would not write:
	// left out by where, and not convertible.
	Filtered, Dirty int64
	// Key names the columns of the ranges; empty when there is no key.
	Key []string
	// Ranges are those that differ, neighbours joined, when the sides do; Of
	// is the number of ranges that were compared.
	Ranges []Range
	Of     int
}

// Equal reports whether both sides hold the same records.
func (r *Report) Equal() bool { return r.Source == r.Target }

// Run compares the two sides of a job.
func Run(ctx context.Context, j *job.Job, opts Options, log *slog.Logger) (*Report, error) {
	opts = opts.WithDefaults()
	s, err := openSides(ctx, j, opts, log)
	if err != nil {
		return nil, err
	}
	report, err := s.compare(ctx, opts)
	s.close(log)
	return report, err
}

func (s *sides) compare(ctx context.Context, opts Options) (*Report, error) {
	sample := newSample(4096)
	first := newCounts(nil)
	source, err := s.read(ctx, opts, first, newCounts(nil), sample)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Source: source.source.total(), Target: source.target.total(),
		Filtered: source.filtered, Dirty: source.dirty, Key: s.key,
	}
	if report.Equal() || len(s.key) == 0 {
		return report, nil
	}
	if s.once {
		return report, connector.Errorf(connector.Permanent, "source and target differ, and a standard stream cannot be read again to say where")
	}
	bounds := sample.bounds(opts.Ranges)
	again, err := s.read(ctx, opts, newCounts(bounds), newCounts(bounds), nil)
	if err != nil {
		return nil, err
	}
	report.Ranges = differing(bounds, again.source, again.target)
	report.Of = len(bounds) + 1
	return report, nil
}

// pass is what one reading of both sides found.
type pass struct {
	source, target  *counts
	filtered, dirty int64
}

// read reads both sides at once.
func (s *sides) read(ctx context.Context, opts Options, source, target *counts, sample *sample) (*pass, error) {
	p := &pass{source: source, target: target}
	group, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for _, side := range []struct {
		*side
		into *counts
	}{{s.source, source}, {s.target, target}} {
		group.Go(func() error {
			return side.readAll(ctx, opts.Parallelism, func() *reading {
				return &reading{side: side.side, counts: newCounts(side.into.bounds), sample: sample}
			}, func(r *reading) {
				mu.Lock()
				defer mu.Unlock()
				side.into.add(r.counts)
				p.filtered += r.filtered
				p.dirty += r.dirty
			})
		})
	}
	return p, group.Wait()
}

// differing returns the ranges whose contents differ, neighbours joined.
func differing(bounds []key, source, target *counts) []Range {
	var ranges []Range
	joins := false
	for i := range len(bounds) + 1 {
		r := Range{Source: source.ranges[i], Target: target.ranges[i]}
		if r.Equal() {
			joins = false
			continue
		}
		if i > 0 {
			r.From = bounds[i-1].texts
		}
		if i < len(bounds) {
			r.To = bounds[i].texts
		}
		if joins {
			last := &ranges[len(ranges)-1]
			last.To = r.To
			last.Source.add(r.Source)
			last.Target.add(r.Target)
			continue
		}
		ranges = append(ranges, r)
		joins = true
	}
	return ranges
}

// checkKey finds the key's columns among the target's.
func checkKey(names, columns []string) error {
	for _, name := range names {
		if !slices.Contains(columns, name) {
			return connector.Errorf(connector.Usage, "key: the target has no column %q among %v", name, columns)
		}
	}
	return nil
}

// wrap names the side in its errors.
func wrap(side string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", side, err)
}
