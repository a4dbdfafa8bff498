package local_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// database is a target on a machine of its own, which does not crash: runs,
// positions and rows, as the sinks of databases keep them.
type database struct {
	mu     sync.Mutex
	runs   map[string]*databaseRun
	splits map[connector.SplitID]*connector.SplitState
	rows   []int
}

type databaseRun struct {
	hash     string
	finished bool
}

// open returns the runs that are.
func (db *database) open() (ids []string) {
	for id, run := range db.runs {
		if !run.finished {
			ids = append(ids, id)
		}
	}
	return ids
}

func newDatabase() *database {
	return &database{runs: map[string]*databaseRun{}, splits: map[connector.SplitID]*connector.SplitState{}}
}

// rejectedByDatabase are records that the database refuses: at the write, the
// flush, or only at the commit.
func rejectedByDatabase(id int) bool { return id%13 == 0 || id%17 == 0 || id%19 == 0 }

// client is a process's sink of a database. alive fails once the process has
// crashed.
type client struct {
	db    *database
	alive func() error
}

// Resolve implements connector.Sink.
func (c *client) Resolve(_ context.Context, in *batch.Schema) (*connector.Plan, error) {
	return &connector.Plan{Schema: in, Guarantee: connector.WithPosition}, nil
}

// locked runs f in the database while the process is there.
func (c *client) locked(f func() error) error {
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	if err := c.alive(); err != nil {
		return err
	}
	return f()
}

// Prepare implements connector.Sink.
func (c *client) Prepare(_ context.Context, run connector.Run) error {
	return c.locked(func() error {
		known := c.db.runs[run.ID]
		if known != nil && known.finished {
			return connector.ErrFinished
		}
		for id, other := range c.db.runs {
			if known != nil || other.hash != run.JobHash || other.finished {
				continue
			}
			if !run.Restart {
				return connector.Errorf(connector.Usage, "run %s is open and nobody knows it", id)
			}
			other.finished = true
		}
		if known == nil && run.Restart { // as mode truncate does
			clear(c.db.splits)
			c.db.rows = nil
		}
		if known == nil {
			c.db.runs[run.ID] = &databaseRun{hash: run.JobHash}
		}
		return nil
	})
}

func (c *client) mustBeOpen(run connector.Run) error {
	if known := c.db.runs[run.ID]; known == nil || known.finished {
		return connector.Errorf(connector.Fenced, "run %s is not open", run.ID)
	}
	return nil
}

// Register implements connector.Sink.
func (c *client) Register(_ context.Context, run connector.Run, splits []connector.Split) error {
	return c.locked(func() error {
		for _, s := range splits {
			if c.db.splits[s.ID] == nil {
				c.db.splits[s.ID] = &connector.SplitState{Split: s.ID}
			}
		}
		return c.mustBeOpen(run)
	})
}

// Claim implements connector.Sink.
func (c *client) Claim(_ context.Context, a connector.Attempt) (w connector.Writer, st connector.SplitState, err error) {
	err = c.locked(func() error {
		row := c.db.splits[a.Split.ID]
		if row == nil || row.Token >= a.Token {
			return connector.Errorf(connector.Fenced, "split %d is another's", a.Split.ID)
		}
		row.Token = a.Token
		st = *row
		if !st.Done {
			w = &databaseWriter{client: c, attempt: a}
		}
		return nil
	})
	return w, st, err
}

// States implements connector.Sink.
func (c *client) States(context.Context, connector.Run) (states []connector.SplitState, err error) {
	err = c.locked(func() error {
		for _, id := range slices.Sorted(maps.Keys(c.db.splits)) {
			states = append(states, *c.db.splits[id])
		}
		return nil
	})
	return states, err
}

// Finish implements connector.Sink.
func (c *client) Finish(_ context.Context, run connector.Run, _ []connector.SplitState) error {
	return c.locked(func() error {
		c.db.runs[run.ID].finished = true
		clear(c.db.splits)
		return nil
	})
}

// Close implements connector.Sink.
func (*client) Close() error { return nil }

// databaseWriter is a transaction.
type databaseWriter struct {
	*client
	attempt connector.Attempt
	batches []*batch.Batch
	rows    []databaseRow
}

// databaseRow is row i of a batch that is not committed.
type databaseRow struct {
	id, i int
	batch *batch.Batch
}

// Write implements connector.Writer.
func (w *databaseWriter) Write(_ context.Context, b *batch.Batch) error {
	w.batches = append(w.batches, b)
	for i := range b.Rows {
		id, err := strconv.Atoi(string(b.Columns[0].Cell(i)))
		if err != nil {
			return err
		}
		w.rows = append(w.rows, databaseRow{id, i, b})
	}
	w.refuse(13)
	return w.alive()
}

// refuse takes out the rows whose ids a number divides.
func (w *databaseWriter) refuse(divisor int) (some bool) {
	w.rows = slices.DeleteFunc(w.rows, func(r databaseRow) bool {
		if r.id%divisor != 0 {
			return false
		}
		some = true
		w.attempt.Reject(r.batch, r.i, "id", batch.CauseUntold, "refused: "+strconv.Itoa(divisor))
		return true
	})
	return some
}

// Flush implements connector.Writer.
func (w *databaseWriter) Flush(context.Context) error {
	w.refuse(17)
	return w.alive()
}

// Commit implements connector.Writer.
func (w *databaseWriter) Commit(_ context.Context, st connector.SplitState) (connector.SplitState, error) {
	if w.refuse(19) {
		return st, connector.ErrAgain
	}
	err := w.locked(func() error {
		row := w.db.splits[w.attempt.Split.ID]
		if row == nil || row.Token != w.attempt.Token {
			return connector.Errorf(connector.Fenced, "split %d is another's", w.attempt.Split.ID)
		}
		st.Token, st.CommitNo = w.attempt.Token, row.CommitNo+1
		st.Counters.Written += int64(len(w.rows))
		st.Counters.BytesWritten += int64(len(w.rows))
		st.Dirty = slices.Clone(st.Dirty)
		*row = st
		for _, r := range w.rows {
			w.db.rows = append(w.db.rows, r.id)
		}
		return nil
	})
	if err == nil {
		w.release()
	}
	return st, err
}

func (w *databaseWriter) release() {
	for _, b := range w.batches {
		b.Release()
	}
	w.batches, w.rows = nil, nil
}

// Close implements connector.Writer.
func (w *databaseWriter) Close() error {
	w.release()
	return nil
}
