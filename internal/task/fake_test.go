package task_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// numbers is a source of one int64 column: 0 to rows-1, ten per batch. gate,
// when set, is received from before each batch.
type numbers struct {
	connector.Source
	rows     int
	seekable bool
	every    int // seekable at multiples of it only; 0: everywhere
	gate     chan struct{}
	fail     error // after the last row, in place of the end
	schema   *batch.Schema
	// fill, when set, makes the only batch.
	fill func(*batch.Batch)
}

func (n *numbers) Open(_ context.Context, _ connector.Split, pos connector.Position) (connector.Reader, error) {
	at, _ := strconv.Atoi(string(pos))
	return &numbersReader{numbers: n, at: at}, nil
}

type numbersReader struct {
	*numbers
	at int
}

func (r *numbersReader) Next(ctx context.Context, b *batch.Batch) error {
	if r.gate != nil {
		select {
		case <-r.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if r.at >= r.rows {
		if r.fail != nil {
			return r.fail
		}
		return io.EOF
	}
	if r.fill != nil {
		r.at = r.rows
		r.fill(b)
		return nil
	}
	b.First = int64(r.at + 1)
	for range min(10, r.rows-r.at) {
		b.Append(strconv.AppendInt(nil, int64(r.at), 10))
		b.Bytes += 8
		r.at++
	}
	b.Seal()
	return nil
}

func (r *numbersReader) Position() (connector.Position, bool) {
	return connector.Position(strconv.Itoa(r.at)), r.seekable && (r.every == 0 || r.at%r.every == 0)
}

func (r *numbersReader) Close() error { return nil }

// ledger is a sink that keeps what is committed, and a log of the calls.
type ledger struct {
	connector.Sink
	mu    sync.Mutex
	calls []string
	rows  []string
	state connector.SplitState
	// reject tells which values the writer refuses when: at "write" or "commit".
	reject     map[string]string
	commitFail error
	committed  chan struct{}
}

func (l *ledger) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, fmt.Sprintf(format, args...))
}

func (l *ledger) Claim(_ context.Context, a connector.Attempt) (connector.Writer, connector.SplitState, error) {
	l.note("claim %s", a.Token)
	if l.state.Done {
		return nil, l.state, nil
	}
	return &ledgerWriter{ledger: l, attempt: a, counters: l.state.Counters, late: map[string]bool{}}, l.state, nil
}

type ledgerWriter struct {
	*ledger
	attempt  connector.Attempt
	open     []string
	late     map[string]bool
	counters connector.Counters
}

func (w *ledgerWriter) Write(_ context.Context, b *batch.Batch) error {
	defer b.Release()
	for i := range b.Rows {
		v := string(b.Columns[0].Cell(i))
		switch w.reject[v] {
		case "write":
			w.attempt.Reject(b, i, "n", batch.CauseUntold, "refused")
			continue
		case "commit":
			w.late[v] = true
		}
		w.open = append(w.open, v)
	}
	return nil
}

func (w *ledgerWriter) Flush(context.Context) error {
	w.note("flush")
	return nil
}

func (w *ledgerWriter) Commit(_ context.Context, st connector.SplitState) (connector.SplitState, error) {
	if w.commitFail != nil {
		return st, w.commitFail
	}
	if len(w.late) > 0 {
		w.note("refuse at commit")
		kept := w.open[:0]
		for _, v := range w.open {
			if !w.late[v] {
				kept = append(kept, v)
				continue
			}
			b := (&batch.Pool{}).Get(&batch.Schema{Fields: []batch.Field{{Name: "n"}}})
			b.Append([]byte(v))
			b.Seal()
			w.attempt.Reject(b, 0, "n", batch.CauseUntold, "refused late")
		}
		w.open, w.late = kept, map[string]bool{}
		return st, connector.ErrAgain
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows = append(w.rows, w.open...)
	w.counters.Written += int64(len(w.open))
	w.open = nil
	st.Counters.Written = w.counters.Written
	st.CommitNo++
	st.Token = w.attempt.Token
	w.state = st
	w.calls = append(w.calls, fmt.Sprintf("commit at %s, %d dirty", st.Position, st.Counters.Dirty))
	if w.committed != nil {
		w.committed <- struct{}{}
	}
	return st, nil
}

func (w *ledgerWriter) Close() error { return nil }
