package mysql

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// rig is a sink on a database of its own, and what its tests do with it.
type rig struct {
	t      *testing.T
	server *testenv.MariaDBServer
	url    string
	sink   *Sink
	in     *batch.Schema
	run    connector.Run
	pool   batch.Pool
	// rejected are the rejected rows, as "id column: reason".
	rejected []string
	causes   []batch.Cause
}

const null = "\x00NULL"

func newRig(t *testing.T, setup string, options map[string]any, fields ...batch.Field) *rig {
	t.Helper()
	server := testenv.MariaDB(t)
	return newRigAt(t, server, server.Database(t), setup, options, fields...)
}

func newRigAt(t *testing.T, server *testenv.MariaDBServer, url, setup string, options map[string]any, fields ...batch.Field) *rig {
	t.Helper()
	r := &rig{t: t, server: server, url: url, in: newSchema(fields...), run: newRun(1)}
	if setup != "" {
		server.Exec(t, url, setup)
	}
	r.sink = r.newSink(options)
	return r
}

// newSink makes another sink of the same job, as another process would.
func (r *rig) newSink(options map[string]any) *Sink {
	r.t.Helper()
	values := map[string]any{"url": r.url, "table": "t"}
	maps.Copy(values, options)
	o := new(SinkOptions)
	if err := option.Parse(values, o); err != nil {
		r.t.Fatalf("options: %v", err)
	}
	k, err := newSink(o, connector.SinkEnv{})
	if err != nil {
		r.t.Fatalf("new sink: %v", err)
	}
	r.t.Cleanup(func() { _ = k.Close() })
	return k
}

func newRun(n int) connector.Run {
	return connector.Run{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Job: "job", JobHash: "hash"}
}

func newSchema(fields ...batch.Field) *batch.Schema { return &batch.Schema{Fields: fields} }

func field(name string, kind batch.Kind) batch.Field {
	return batch.Field{Name: name, Type: batch.Of(kind)}
}

func untyped(names ...string) []batch.Field {
	fields := make([]batch.Field, len(names))
	for i, n := range names {
		fields[i] = field(n, batch.Untyped)
	}
	return fields
}

// prepare resolves, prepares and registers splits 0 to n-1.
func (r *rig) prepare(splits int) *connector.Plan {
	r.t.Helper()
	plan := must(r.sink.Resolve(r.t.Context(), r.in))(r.t)
	check(r.t, r.sink.Prepare(r.t.Context(), r.run))
	check(r.t, r.sink.Register(r.t.Context(), r.run, splitsOf(splits)))
	return plan
}

func splitsOf(n int) []connector.Split {
	splits := make([]connector.Split, n)
	for i := range splits {
		splits[i].ID = connector.SplitID(i)
	}
	return splits
}

// attempt is the rig's attempt at a split.
func (r *rig) attempt(split int, token uint64) connector.Attempt {
	return connector.Attempt{
		Run: r.run, Split: connector.Split{ID: connector.SplitID(split)}, Token: connector.Token(token),
		Reject: func(b *batch.Batch, row int, column string, cause batch.Cause, reason string) {
			r.causes = append(r.causes, cause)
			r.rejected = append(r.rejected, fmt.Sprintf("%s %s: %s", b.Columns[0].Cell(row), column, reason))
		},
	}
}

// breakRules switches rules off in a sink that is resolved.
func (r *rig) breakRules(rules breakRules) {
	r.sink.rules, r.sink.target.ledger.Rules = rules, rules.Rules
}

// claim claims a split and expects to get it.
func (r *rig) claim(split int, token uint64) (connector.Writer, connector.SplitState) {
	r.t.Helper()
	w, state, err := r.sink.Claim(r.t.Context(), r.attempt(split, token))
	if err != nil {
		r.t.Fatalf("claim split %d with token %d: %v", split, token, err)
	}
	if w != nil {
		r.t.Cleanup(func() { _ = w.Close() })
	}
	return w, state
}

// batch makes a batch of rows whose cells stand between bars.
func (r *rig) batch(rows ...string) *batch.Batch {
	b := r.pool.Get(r.in)
	for _, row := range rows {
		for cell := range strings.SplitSeq(row, "|") {
			if cell == null {
				b.AppendNull()
			} else {
				b.Append([]byte(cell))
			}
		}
	}
	b.Seal()
	return b
}

func none() int64 { return 0 }

// commit flushes and commits as a task does.
func commit(t *testing.T, w connector.Writer, state connector.SplitState, read int64, done bool, dirty func() int64) connector.SplitState {
	t.Helper()
	check(t, w.Flush(t.Context()))
	state.Done = done
	state.Counters.Read += read
	state.Counters.Dirty = dirty()
	durable, err := w.Commit(t.Context(), state)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return durable
}

// load writes all rows as split 0 in one attempt, finishes the run, and
// returns the split's counters.
func (r *rig) load(rows ...string) connector.Counters {
	r.t.Helper()
	r.prepare(1)
	return r.loadPrepared(rows...)
}

func (r *rig) loadPrepared(rows ...string) connector.Counters {
	r.t.Helper()
	w, state := r.claim(0, 1)
	check(r.t, w.Write(r.t.Context(), r.batch(rows...)))
	state = commit(r.t, w, state, int64(len(rows)), true, func() int64 { return int64(len(r.rejected)) })
	check(r.t, w.Close())
	check(r.t, r.sink.Finish(r.t.Context(), r.run, []connector.SplitState{state}))
	return state.Counters
}

// expect compares the rows of a query.
func (r *rig) expect(query string, want ...string) {
	r.t.Helper()
	r.server.Expect(r.t, r.url, query, want...)
}

// expectClass expects an error of a class whose text holds all of words.
func expectClass(t testing.TB, err error, class connector.Class, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that is %s", class)
	}
	if got := connector.ClassOf(err); got != class {
		t.Errorf("error is %s, want %s: %v", got, class, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}
