package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Rule 8: two writers that want each other's rows in another order: a deadlock
// ends one, whose split is then written alone, and nothing is lost.
func TestDeadlockOfUpserts(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", map[string]any{"mode": "upsert"}, untyped("id", "v")...)
	var log bytes.Buffer
	r.sink.log = slog.New(slog.NewTextHandler(&log, nil))
	r.prepare(2)
	write := func(w connector.Writer, rows ...*batch.Batch) error {
		for _, b := range rows {
			if err := w.Write(t.Context(), b); err != nil {
				return err
			}
			if err := w.Flush(t.Context()); err != nil {
				return err
			}
		}
		return nil
	}
	var writers [2]connector.Writer
	var states [2]connector.SplitState
	for i := range writers {
		writers[i], states[i] = r.claim(i, 1)
		check(t, write(writers[i], r.batch(fmt.Sprintf("%d|%d", i, i))))
	}
	second := []*batch.Batch{r.batch("1|0"), r.batch("0|1")}
	var errs [2]error
	var both sync.WaitGroup
	for i := range writers {
		both.Go(func() {
			if errs[i] = write(writers[i], second[i]); errs[i] != nil {
				errs[i] = errors.Join(errs[i], writers[i].Close())
			}
		})
	}
	both.Wait()
	loser := 0
	if errs[0] == nil {
		loser = 1
	}
	expectClass(t, errs[loser], connector.Retryable)
	check(t, errs[1-loser])
	if !strings.Contains(log.String(), "deadlock") {
		t.Errorf("logged: %s", log.String())
	}
	commit(t, writers[1-loser], states[1-loser], 2, true, none)
	w, state := r.claim(loser, 2)
	check(t, write(w, r.batch("0|7"), r.batch("1|8")))
	commit(t, w, state, 2, true, none)
	r.expect("SELECT * FROM t ORDER BY id", "0|7", "1|8")
}
