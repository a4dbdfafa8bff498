package local_test

import (
	"bytes"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// Wherever a disk fills up, a run is said to be kept just when the next start
// goes on with it. The disk is full at one change and at all that follow.
func TestKeptIsWhatTheNextStartGoesOnWith(t *testing.T) {
	kept, lost := 0, 0
	for full := int64(1); ; full++ {
		fsys := crashfs.New(1)
		var log bytes.Buffer
		r := local.New(local.Deps{
			Registry: registry(t), FS: fsys, Log: slog.New(slog.NewTextHandler(&log, nil)),
			Lock: func(string) (func(), error) { return func() {}, nil },
		})
		job := parse(t, "name: x\nsource: {stream: {rows: 30, split_rows: 10}}\nsink: {stream: {}}\n")
		var first crashfs.Kind
		changes := int64(0)
		fsys.Inject(func(op crashfs.Op) error {
			if !op.Kind.Changes() {
				return nil
			}
			if changes++; changes < full {
				return nil
			}
			if changes == full {
				first = op.Kind
			}
			return syscall.ENOSPC
		})
		sum, err := r.Run(t.Context(), job, local.Options{StateDir: "/state"})
		if err == nil {
			break
		}
		fsys.Inject(nil)
		log.Reset()
		if sum, err := r.Run(t.Context(), job, local.Options{StateDir: "/state"}); err != nil || sum.Kept || sum.Written != 30 {
			t.Fatalf("full at change %d: then %+v, %v", full, sum, err)
		}
		goesOn := strings.Contains(log.String(), "going on")
		if sum.Kept != goesOn {
			t.Errorf("full at change %d, a %s: kept %v, and the next start goes on: %v", full, first, sum.Kept, goesOn)
		}
		if sum.Kept {
			kept++
		} else {
			lost++
		}
	}
	if kept == 0 || lost == 0 {
		t.Errorf("%d kept, %d not: both were to be met", kept, lost)
	}
}
