package files

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// prepared returns the sink of a process that has prepared a run.
func prepared(t *testing.T, fsys storage.FS, path string, schema *batch.Schema, run connector.Run) *Sink {
	t.Helper()
	s, err := NewSink(SinkConfig{FS: fsys, Format: lineFormat{}, Options: SinkOptions{Path: path}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return s
}

// Exactness rule 9: what an older attempt writes, at whatever moment it is
// stopped and woken, counts for nothing once a newer one has the split.
func TestRule9OlderAttemptNeverCounts(t *testing.T) {
	for _, out := range []string{"/out/t.txt", "/out/"} {
		fsys := crashfs.New(1)
		schema := &batch.Schema{Fields: []batch.Field{{Name: "id"}}}
		run := connector.Run{ID: "r1"}
		split := connector.Split{ID: 0}
		claim := func(s *Sink, token connector.Token, state connector.SplitState) (connector.Writer, connector.SplitState) {
			w, state, err := s.Claim(t.Context(), connector.Attempt{Run: run, Split: split, Token: token, State: state})
			if err != nil {
				t.Fatal(err)
			}
			return w, state
		}
		commit := func(w connector.Writer, state connector.SplitState, row string) connector.SplitState {
			if row != "" {
				if err := w.Write(t.Context(), oneRow(schema, row)); err != nil {
					t.Fatal(err)
				}
			}
			state, err := w.Commit(t.Context(), state)
			if err != nil {
				t.Fatal(err)
			}
			return state
		}
		oldSink := prepared(t, fsys, out, schema, run)
		oldWriter, state := claim(oldSink, connector.NewToken(1, 1), connector.SplitState{})
		stored := commit(oldWriter, state, "kept")
		zombie := commit(oldWriter, stored, "never stored") // durable, and unknown to the engine

		newSink := prepared(t, fsys, out, schema, run)
		newWriter, state := claim(newSink, connector.NewToken(2, 1), stored)
		zombie = commit(oldWriter, zombie, "while the newer one is at work")
		state.Done = true
		final := commit(newWriter, state, "new")
		if err := newWriter.Close(); err != nil {
			t.Fatal(err)
		}
		if err := newSink.Finish(t.Context(), run, []connector.SplitState{final}); err != nil {
			t.Fatal(err)
		}
		commit(oldWriter, zombie, "after the end")
		if err := newSink.Close(); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, name := range names(t, fsys, "/out") {
			if !strings.HasPrefix(name, ".") {
				data, err := storage.ReadFile(fsys, filepath.Join("/out", name))
				if err != nil {
					t.Fatal(err)
				}
				got.Write(data)
			}
		}
		if got.String() != "kept\nnew\n" {
			t.Errorf("%s: the target holds %q", out, got.String())
		}
	}
}

// Exactness rule 9: a process that wakes after another has finished its run
// leaves nothing in the target.
func TestRule9AnOlderProcessLeavesNothingBehind(t *testing.T) {
	fsys := crashfs.New(1)
	schema := &batch.Schema{Fields: []batch.Field{{Name: "id"}}}
	run := connector.Run{ID: "r1"}
	claim := func(s *Sink, id connector.SplitID, token connector.Token) (connector.Writer, connector.SplitState, error) {
		return s.Claim(t.Context(), connector.Attempt{Run: run, Split: connector.Split{ID: id}, Token: token})
	}
	old := prepared(t, fsys, "/out/", schema, run)
	if _, _, err := claim(old, 0, connector.NewToken(1, 1)); err != nil {
		t.Fatal(err)
	}
	s := prepared(t, fsys, "/out/", schema, run)
	w, state, err := claim(s, 0, connector.NewToken(2, 1))
	if err == nil {
		err = w.Write(t.Context(), oneRow(schema, "1"))
	}
	if err == nil {
		state.Done = true
		state, err = w.Commit(t.Context(), state)
	}
	if err == nil {
		err = errors.Join(w.Close(), s.Finish(t.Context(), run, []connector.SplitState{state}), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := claim(old, 1, connector.NewToken(1, 2)); connector.ClassOf(err) != connector.Fenced || !strings.Contains(err.Error(), "--restart") {
		t.Errorf("the older process claims another split: %v", err)
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if got := names(t, fsys, "/out"); !slices.Equal(got, []string{"part-00001.txt"}) {
		t.Errorf("the target holds %q", got)
	}
}
