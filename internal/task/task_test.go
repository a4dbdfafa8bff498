package task_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/task"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watcher keeps what an attempt tells.
type watcher struct {
	mu      sync.Mutex
	durable []connector.SplitState
	last    connector.Counters
	dirty   []batch.Reject
}

func (w *watcher) Durable(s connector.SplitState, _ connector.FormatState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.durable = append(w.durable, s)
}

func (w *watcher) Progress(_ connector.SplitID, _ connector.Token, c connector.Counters) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = c
}

func (w *watcher) Dirty(r batch.Reject) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty = append(w.dirty, r)
}

func schema() *batch.Schema {
	return &batch.Schema{Fields: []batch.Field{{Name: "n", Type: batch.Of(batch.Int64)}}}
}

func subtask(t *testing.T, src *numbers, sink *ledger, set func(*task.Config)) *task.Subtask {
	t.Helper()
	m, err := task.NewMapper(schema(), []task.Column{{Name: "n", Source: 0}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Bind(schema()); err != nil {
		t.Fatal(err)
	}
	src.schema = schema()
	cfg := task.Config{
		Source: src, Sink: sink, Schema: schema(), Mapper: m,
		Dirty: task.DirtyDir{FS: storage.Local{}, Path: t.TempDir()},
	}
	if set != nil {
		set(&cfg)
	}
	s, err := task.New(cfg, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func values(n int) []string {
	v := make([]string, n)
	for i := range v {
		v[i] = strconv.Itoa(i)
	}
	return v
}

func TestAttemptCopiesAndCommitsOnce(t *testing.T) {
	sink, w := &ledger{}, &watcher{}
	err := subtask(t, &numbers{rows: 25, seekable: true}, sink, nil).Run(t.Context(), connector.Split{}, 7, connector.SplitState{}, connector.FormatState{}, w)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sink.rows, values(25)) {
		t.Errorf("rows %v", sink.rows)
	}
	if want := []string{"claim 0.7", "flush", "commit at 25, 0 dirty"}; !slices.Equal(sink.calls, want) {
		t.Errorf("calls %q, want %q", sink.calls, want)
	}
	if len(w.durable) != 1 || !w.durable[0].Done || w.durable[0].Token != 7 || !w.durable[0].Counters.Balanced() {
		t.Errorf("durable %+v", w.durable)
	}
}

// TestCommitBySize shows exactness rule 3's bound: a commit at so many bytes.
func TestCommitBySize(t *testing.T) {
	sink := &ledger{}
	s := subtask(t, &numbers{rows: 30, seekable: true}, sink, func(c *task.Config) { c.CommitBytes = 80 })
	if err := s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{}); err != nil {
		t.Fatal(err)
	}
	var commits []string
	for _, c := range sink.calls {
		if strings.HasPrefix(c, "commit") {
			commits = append(commits, c)
		}
	}
	want := []string{"commit at 10, 0 dirty", "commit at 20, 0 dirty", "commit at 30, 0 dirty", "commit at 30, 0 dirty"}
	if !slices.Equal(commits, want) {
		t.Errorf("commits %q, want %q", commits, want)
	}
}

func TestNoPositionCommitsAtTheEnd(t *testing.T) {
	sink := &ledger{}
	s := subtask(t, &numbers{rows: 30}, sink, func(c *task.Config) { c.CommitBytes = 80 })
	if err := s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{}); err != nil {
		t.Fatal(err)
	}
	if len(sink.calls) != 3 {
		t.Errorf("calls %q: want claim, flush and one commit", sink.calls)
	}
}

// TestCommitByTime shows the other bound of rule 3: one interval after the last.
func TestCommitByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{committed: make(chan struct{}, 1)}
		src := &numbers{rows: 20, seekable: true, gate: make(chan struct{})}
		s := subtask(t, src, sink, func(c *task.Config) { c.CommitInterval = 10 * time.Second })
		done := make(chan error)
		start := time.Now()
		go func() {
			done <- s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{})
		}()
		src.gate <- struct{}{}
		<-sink.committed
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("the first commit came after %v", took)
		}
		close(src.gate)
		<-sink.committed
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if sink.calls[2] != "commit at 10, 0 dirty" {
			t.Errorf("calls %q", sink.calls)
		}
	})
}

// TestDueCommitIsMadeWhereReadingCanGoOn shows that a commit whose time has come
// between two places at which reading can go on is made at the next of them, and
// does not wait for the interval to end just there.
func TestDueCommitIsMadeWhereReadingCanGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{committed: make(chan struct{}, 1)}
		src := &numbers{rows: 50, seekable: true, every: 30, gate: make(chan struct{})}
		s := subtask(t, src, sink, func(c *task.Config) { c.CommitInterval = 10 * time.Second })
		done := make(chan error)
		go func() {
			done <- s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{})
		}()
		src.gate <- struct{}{}
		synctest.Wait()
		<-time.NewTimer(15 * time.Second).C // the interval ends where reading cannot go on
		src.gate <- struct{}{}
		synctest.Wait()
		start := time.Now()
		src.gate <- struct{}{}
		<-sink.committed
		if took := time.Since(start); took != 0 {
			t.Errorf("the commit that was due came after %v", took)
		}
		close(src.gate)
		<-sink.committed
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if sink.calls[2] != "commit at 30, 0 dirty" {
			t.Errorf("calls %q", sink.calls)
		}
	})
}

// TestResumeReadsFromTheClaim shows rule 2: the reader opens at the position
// that the claim returned, whatever the assignment said.
func TestResumeReadsFromTheClaim(t *testing.T) {
	sink := &ledger{rows: values(13), state: connector.SplitState{
		Position: "13", CommitNo: 4, Counters: connector.Counters{Read: 13, Written: 13},
	}}
	w := &watcher{}
	err := subtask(t, &numbers{rows: 25, seekable: true}, sink, nil).Run(t.Context(), connector.Split{}, 9, connector.SplitState{Position: "5"}, connector.FormatState{}, w)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sink.rows, values(25)) {
		t.Errorf("rows %v", sink.rows)
	}
	if st := w.durable[0]; st.CommitNo != 5 || st.Counters.Read != 25 || st.Counters.Written != 25 {
		t.Errorf("durable %+v", st)
	}
}

// TestRefusedAtTheCommit shows rules 5 and 13 together: what a commit refuses
// is kept and counted before the commit that holds the rows beside it.
func TestRefusedAtTheCommit(t *testing.T) {
	sink := &ledger{reject: map[string]string{"3": "write", "7": "commit"}}
	w := &watcher{}
	err := subtask(t, &numbers{rows: 10, seekable: true}, sink, nil).Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, w)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"claim 0.1", "flush", "refuse at commit", "commit at 10, 2 dirty"}
	if !slices.Equal(sink.calls, want) {
		t.Errorf("calls %q, want %q", sink.calls, want)
	}
	st := w.durable[0]
	if !st.Counters.Balanced() || len(st.Dirty) != 1 || st.Dirty[0].Count != 2 || st.Dirty[0].Length == 0 {
		t.Errorf("durable %+v", st)
	}
	if len(w.dirty) != 2 || w.dirty[0].Where != "record 4" {
		t.Errorf("dirty %+v", w.dirty)
	}
}

func TestReadErrorIsNeverAnEnd(t *testing.T) {
	lost := connector.Errorf(connector.Retryable, "connection lost")
	sink, w := &ledger{}, &watcher{}
	err := subtask(t, &numbers{rows: 25, seekable: true, fail: lost}, sink, nil).Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, w)
	if !errors.Is(err, lost) || connector.ClassOf(err) != connector.Retryable {
		t.Errorf("error %v", err)
	}
	if len(w.durable) != 0 || len(sink.rows) != 0 {
		t.Errorf("durable %+v, rows %v", w.durable, sink.rows)
	}
}

func TestCancelEndsTheAttempt(t *testing.T) {
	src := &numbers{rows: 1000, seekable: true, gate: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	s := subtask(t, src, &ledger{}, nil)
	go func() {
		done <- s.Run(ctx, connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{})
	}()
	src.gate <- struct{}{}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestDoneSplitIsReportedAtOnce(t *testing.T) {
	sink := &ledger{state: connector.SplitState{Done: true, Counters: connector.Counters{Read: 3, Written: 3}}}
	w := &watcher{}
	if err := subtask(t, &numbers{}, sink, nil).Run(t.Context(), connector.Split{}, 4, connector.SplitState{}, connector.FormatState{}, w); err != nil {
		t.Fatal(err)
	}
	if len(w.durable) != 1 || !w.durable[0].Done || w.durable[0].Token != 4 {
		t.Errorf("durable %+v", w.durable)
	}
}
