package task

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/metrics"
	"github.com/leatdata/leat/ratelimit"
)

// Config is what a subtask needs, the same for all subtasks of a job.
type Config struct {
	Run    connector.Run
	Source connector.Source
	Sink   connector.Sink
	// Schema is the source's; Mapper is bound to the sink's plan.
	Schema *batch.Schema
	Mapper *Mapper
	Dirty  DirtyDir
	// CommitBytes and CommitInterval say when to commit within a split.
	CommitBytes    int64
	CommitInterval time.Duration
	// ProgressInterval is the least time between two calls of Progress.
	ProgressInterval time.Duration
	// Metrics is the scope of the subtasks' metrics, a label each; nil keeps them
	// to the subtask.
	Metrics *metrics.Group
	// Limited says that a limit is on: nothing passes before the first lease.
	Limited bool
}

// WithDefaults fills what is zero: 64 MiB, 10 s and 200 ms.
func (c Config) WithDefaults() Config {
	if c.CommitBytes == 0 {
		c.CommitBytes = 64 << 20
	}
	if c.CommitInterval == 0 {
		c.CommitInterval = 10 * time.Second
	}
	if c.ProgressInterval == 0 {
		c.ProgressInterval = 200 * time.Millisecond
	}
	return c
}

// Observer hears of an attempt from its goroutine. Its methods must not block
// for long.
type Observer interface {
	// Durable tells a state that has become durable, and what was measured until
	// then.
	Durable(connector.SplitState, connector.FormatState)
	// Progress tells the counters as they stand, durable or not.
	Progress(connector.SplitID, connector.Token, connector.Counters)
	// Dirty tells of a dirty record.
	Dirty(batch.Reject)
}

// Subtask runs one attempt after the other. It belongs to one goroutine; its
// numbers, its limiter and the job's sums may be used from others.
type Subtask struct {
	cfg     Config
	slot    int
	mapper  *Mapper
	pool    *batch.Pool
	numbers *Numbers
	globals *Globals
	limiter *ratelimit.Limiter
}

// New returns a subtask for a slot.
func New(cfg Config, slot int) (*Subtask, error) {
	m, err := cfg.Mapper.Clone()
	if err != nil {
		return nil, err
	}
	group := cfg.Metrics
	if group == nil {
		group = metrics.NewRegistry().Group("leat")
	}
	s := &Subtask{
		cfg: cfg.WithDefaults(), slot: slot, mapper: m, pool: &batch.Pool{},
		globals: newGlobals(), limiter: ratelimit.NewLimiter(cfg.Limited),
	}
	s.numbers = newNumbers(group.Group("subtask").With("subtask", strconv.Itoa(slot)), s.limiter)
	return s, nil
}

// Numbers are what the subtask has measured.
func (s *Subtask) Numbers() *Numbers { return s.numbers }

// Globals are the sums over all subtasks of the job.
func (s *Subtask) Globals() *Globals { return s.globals }

// Limiter is the subtask's side of the job's limit.
func (s *Subtask) Limiter() *ratelimit.Limiter { return s.limiter }

// Run makes one attempt at a split, of which a durable state is known and what
// was measured until then. It returns nil when the split is done.
func (s *Subtask) Run(ctx context.Context, split connector.Split, token connector.Token, from connector.SplitState, format connector.FormatState, o Observer) (err error) {
	a := &attempt{Subtask: s, split: split, token: token, observer: o, format: format, part: s.cfg.Dirty.part(split.ID, token)}
	defer func() { err = errors.Join(err, a.part.close()) }()
	if err := a.claim(ctx, from); err != nil {
		return inSplit(split, err)
	}
	if a.writer == nil {
		o.Durable(a.durable, a.format.At(a.durable))
		return nil
	}
	defer func() {
		if cerr := a.writer.Close(); err == nil {
			err = cerr
		}
	}()
	return a.copy(ctx)
}

// inSplit says in which split an error came. What was being done and with what
// the connectors say themselves.
func inSplit(s connector.Split, err error) error { return fmt.Errorf("split %d: %w", s.ID, err) }
