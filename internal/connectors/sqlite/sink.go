package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
	"github.com/leatdata/leat/internal/database"
)

// Sink writes into a table of an SQLite file.
type Sink struct {
	options SinkOptions
	env     connector.SinkEnv
	db      dbFile
	ledger  ledger
	// gate is held by whoever of this process writes to the file: SQLite has
	// one writer, and waiting here is fair and knows contexts.
	gate chan struct{}

	mu     sync.Mutex // guards target
	target *target
}

// NewSink returns a sink of the options.
func NewSink(options *SinkOptions, env connector.SinkEnv) *Sink {
	return &Sink{
		options: *options, env: env, db: dbFile{options.Path, lockWait},
		ledger: ledger{runs: options.RunsTable, positions: options.Positions, rules: brokenRules()}, gate: make(chan struct{}, 1),
	}
}

// Resolve matches the columns to the table as it is, or plans to make it.
func (s *Sink) Resolve(ctx context.Context, in *batch.Schema) (*connector.Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := s.readTable(s.options.Table)
	if err != nil {
		return nil, err
	}
	tg, err := resolveTarget(&s.options, t, in)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.target = tg
	s.mu.Unlock()
	return &connector.Plan{
		Schema: tg.schema(), Guarantee: connector.WithPosition, Creates: t == nil, MaxWriters: 1, Empties: s.options.Mode == database.Truncate,
		Statements: s.statements(tg), Doubts: tg.doubts(in),
	}, nil
}

// readTable reads a table, which is nil when it or the file is missing.
func (s *Sink) readTable(name string) (*table, error) {
	there, err := s.db.exists()
	if err != nil || !there {
		return nil, err
	}
	c, err := s.db.openRead()
	if err != nil {
		return nil, err
	}
	t, err := readTable(c, name)
	return t, s.db.classed(errors.Join(err, c.Close()))
}

// statements tells people what Prepare and Finish will run.
func (s *Sink) statements(tg *target) []string {
	list := append([]string{}, s.options.Pre...)
	staging := "leat_staging_<run>"
	switch {
	case tg.table == nil && s.options.Mode == database.Overwrite:
		list = append(list, tg.create(staging), renameStatement(staging, tg.name))
	case tg.table == nil:
		list = append(list, tg.create(tg.name))
	case s.options.Mode == database.Overwrite:
		list = append(list, "-- make "+quote(staging)+" as "+quote(tg.name)+" is", deleteStatement(tg.name), tg.moveStatement(staging))
	case s.options.Mode == database.Truncate:
		list = append(list, deleteStatement(tg.name))
	}
	return append(list, s.options.Post...)
}

func renameStatement(from, to string) string {
	return "ALTER TABLE " + quote(from) + " RENAME TO " + quote(to)
}

func deleteStatement(table string) string { return "DELETE FROM " + quote(table) }

// moveStatement fills the target from the staging table.
func (tg *target) moveStatement(staging string) string {
	names := quoteAll(tg.names())
	return "INSERT OR ABORT INTO " + quote(tg.name) + " (" + names + ") SELECT " + names + " FROM " + quote(staging)
}

// resolved returns what Resolve found.
func (s *Sink) resolved() (*target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.target == nil {
		return nil, errors.New("the sink's columns are not resolved yet")
	}
	return s.target, nil
}

// enter waits for the gate, at most for wait when it is not 0.
func (s *Sink) enter(ctx context.Context, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	limited := ctx
	if wait > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	select {
	case s.gate <- struct{}{}:
		return nil
	case <-limited.Done():
		return connector.Errorf(connector.Retryable, "database file %s is being written by another attempt of this process: %w", s.options.Path, limited.Err())
	}
}

func (s *Sink) leave() { <-s.gate }

// change runs f in a write transaction of a connection of its own.
func (s *Sink) change(ctx context.Context, f func(c *native.Conn) error) error {
	if err := s.enter(ctx, 0); err != nil {
		return err
	}
	defer s.leave()
	c, err := s.db.openWrite()
	if err != nil {
		return err
	}
	err = s.db.write(ctx, c, func() error { return f(c) })
	return errors.Join(err, s.db.classed(c.Close()))
}

// Register inserts rows for the splits where there are none yet.
func (s *Sink) Register(ctx context.Context, run connector.Run, splits []connector.Split) error {
	err := s.change(ctx, func(c *native.Conn) error {
		if _, err := s.ledger.takes(c, run.ID); err != nil {
			return err
		}
		return s.ledger.register(c, run.ID, splits)
	})
	return err
}

// States reads what is durable of the run's splits. It needs no gate: readers
// and a writer do not keep each other out for long.
func (s *Sink) States(ctx context.Context, run connector.Run) ([]connector.SplitState, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := s.db.openRead()
	if err != nil {
		return nil, err
	}
	states, err := s.readStates(ctx, c, run)
	return states, s.db.interrupted(ctx, errors.Join(err, c.Close()))
}

func (s *Sink) readStates(ctx context.Context, c *native.Conn, run connector.Run) ([]connector.SplitState, error) {
	defer c.Watch(ctx)()
	if err := c.Exec("BEGIN"); err != nil {
		return nil, err
	}
	m, err := s.ledger.takes(c, run.ID)
	if err != nil {
		return nil, err
	}
	states, err := s.ledger.states(c, run.ID)
	if err == nil && int64(len(states)) != m.splits {
		err = s.ledger.splitsGone(m, len(states))
	}
	return states, err
}

// Claim makes the attempt the split's owner.
func (s *Sink) Claim(ctx context.Context, a connector.Attempt) (connector.Writer, connector.SplitState, error) {
	tg, err := s.resolved()
	if err != nil {
		return nil, connector.SplitState{}, err
	}
	s.failpoint("before-claim")
	if err := s.enter(ctx, s.db.wait); err != nil {
		return nil, connector.SplitState{}, err
	}
	defer s.leave()
	c, err := s.db.openWrite()
	if err != nil {
		return nil, connector.SplitState{}, err
	}
	w := &writer{sink: s, conn: c, target: tg, attempt: a}
	state, err := w.claim(ctx)
	if err == nil {
		s.failpoint("after-claim")
	}
	if err != nil || state.Done {
		return nil, state, errors.Join(err, w.Close())
	}
	return w, state, nil
}

func (s *Sink) failpoint(name string) {
	if s.env.Failpoint != nil {
		s.env.Failpoint(name)
	}
}

// stagingName is the table that an overwriting run fills.
func stagingName(run connector.Run) string { return fmt.Sprintf("leat_staging_%s", run.ID) }

// Close has nothing to end: connections belong to writers and single calls.
func (s *Sink) Close() error { return nil }
