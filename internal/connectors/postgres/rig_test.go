package postgres

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// rig is a sink on a database of its own, and what its tests do with it.
type rig struct {
	t    *testing.T
	pg   *testenv.PostgresServer
	url  string
	sink *Sink
	in   *batch.Schema
	run  connector.Run
	pool batch.Pool
	// rejected are the rejected rows, as "id column: reason".
	rejected []string
	causes   []batch.Cause
}

const null = "\x00NULL"

func newRig(t *testing.T, setup string, options map[string]any, fields ...batch.Field) *rig {
	t.Helper()
	return newRigAt(t, testenv.Postgres(t).Database(t), setup, options, fields...)
}

// newRigIn is a rig in a schema of its own in a database for several.
func newRigIn(t *testing.T, database, schema, setup string, fields ...batch.Field) *rig {
	t.Helper()
	testenv.Postgres(t).Exec(t, database, "CREATE SCHEMA "+schema)
	return newRigAt(t, database+"&search_path="+schema, setup, nil, fields...)
}

func newRigAt(t *testing.T, url, setup string, options map[string]any, fields ...batch.Field) *rig {
	t.Helper()
	r := &rig{t: t, pg: testenv.Postgres(t), url: url, in: &batch.Schema{Fields: fields}, run: newRun(1)}
	if setup != "" {
		r.pg.Exec(t, url, setup)
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

// commit flushes and commits as a task does: again when told to.
func commit(t *testing.T, w connector.Writer, state connector.SplitState, read int64, done bool, dirty func() int64) connector.SplitState {
	t.Helper()
	check(t, w.Flush(t.Context()))
	for {
		state.Done = done
		state.Counters.Read += read
		state.Counters.Dirty = dirty()
		durable, err := w.Commit(t.Context(), state)
		if errors.Is(err, connector.ErrAgain) {
			read = 0
			continue
		}
		if err != nil {
			t.Fatalf("commit: %v", err)
		}
		return durable
	}
}

// load writes all rows as split 0 in one attempt, finishes the run, and
// returns the split's counters.
func (r *rig) load(rows ...string) connector.Counters {
	r.t.Helper()
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(r.t, w.Write(r.t.Context(), r.batch(rows...)))
	state = commit(r.t, w, state, int64(len(rows)), true, func() int64 { return int64(len(r.rejected)) })
	check(r.t, w.Close())
	check(r.t, r.sink.Finish(r.t.Context(), r.run, []connector.SplitState{state}))
	return state.Counters
}

// rows returns what a query gives, a row as cells between bars.
func (r *rig) rows(query string) []string {
	r.t.Helper()
	return r.pg.Lines(r.t, r.url, query)
}

// expect compares the rows of a query.
func (r *rig) expect(query string, want ...string) {
	r.t.Helper()
	r.pg.Expect(r.t, r.url, query, want...)
}

// as makes a role with one right on a table, and returns the URL of the
// database for it.
func (r *rig) as(role, right string) string {
	r.t.Helper()
	owner := r.url
	r.pg.Exec(r.t, owner, "CREATE ROLE "+role+" LOGIN; GRANT "+right+" TO "+role)
	r.t.Cleanup(func() { r.pg.Exec(r.t, owner, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	u := must(url.Parse(r.url))(r.t)
	u.User = url.User(role)
	return u.String()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
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

func newSchema(fields ...batch.Field) *batch.Schema { return &batch.Schema{Fields: fields} }
