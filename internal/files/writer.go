package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// spillSize is how much encoded text is gathered before it is written.
const spillSize = 256 << 10

// writer is the connector.Writer of one attempt. It goes on in the file that
// its slot has open, or makes one of its own.
type writer struct {
	encoded
	sink    *Sink
	staging string

	file    *stageFile          // nil until something is written
	made    []string            // the files that this attempt has made
	pending []connector.Segment // of files that rolling has closed since the last commit
	err     error               // ends the attempt
	closed  bool
}

// Write implements connector.Writer.
func (w *writer) Write(ctx context.Context, b *batch.Batch) error {
	defer b.Release()
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.makeRoom(b); err != nil {
		return err
	}
	w.add(b)
	if len(w.buf) >= spillSize {
		w.err = w.spill()
	}
	return w.err
}

// makeRoom readies the buffer for a huge record, whose text is mostly about as
// long as what was read. A packer gathers records elsewhere.
func (w *writer) makeRoom(b *batch.Batch) error {
	size := len(b.Buf) + len(b.Buf)/16
	if size < batch.Huge || w.packer != nil {
		return nil
	}
	if w.err = w.spill(); w.err == nil {
		w.buf = batch.Grow(w.buf, size)
	}
	return w.err
}

// check returns why the attempt cannot go on.
func (w *writer) check(ctx context.Context) error {
	if w.err == nil {
		w.err = ctx.Err()
	}
	return w.err
}

// spill writes the gathered text to the file, and closes a file that is full.
func (w *writer) spill() error {
	if len(w.buf) == 0 {
		return nil
	}
	if w.file == nil {
		if err := w.create(); err != nil {
			return err
		}
	}
	if err := w.file.write(w.buf); err != nil {
		return storage.Doing("write", filepath.Join(w.staging, w.file.name), err)
	}
	w.buf = w.buf[:0]
	if cap(w.buf) >= batch.Huge {
		w.buf = nil
	}
	if !w.full() {
		return nil
	}
	from := w.file.durable
	if err := w.file.sync(); err != nil {
		return storage.Doing("sync", filepath.Join(w.staging, w.file.name), err)
	}
	seg := connector.Segment{File: w.file.name, Offset: from, Length: w.file.durable - from, Sealed: true}
	w.pending = append(w.pending, seg)
	return w.retire()
}

func (w *writer) create() error {
	s := w.sink
	for {
		name := fmt.Sprintf("%d-%s-%d%s", w.attempt.Slot, w.attempt.Token, s.nextFile(), s.target.suffix)
		f, err := createStageFile(s.cfg.FS, w.staging, name, s.target.compression, w.encoder.Header(nil))
		if errors.Is(err, fs.ErrExist) {
			continue // another process has had the token
		}
		if err == nil {
			w.file = f
			w.made = append(w.made, name)
		}
		return err
	}
}

// full reports whether the next records belong into another file.
func (w *writer) full() bool {
	roll := int64(w.sink.cfg.Options.RollSize)
	return w.sink.target.folder && roll > 0 && w.file.size >= roll
}

// retire closes the file; nothing is added to it any more.
func (w *writer) retire() error {
	f := w.file
	w.file = nil
	return w.sink.closeFile(f)
}

// Flush implements connector.Writer: Write has judged all records.
func (w *writer) Flush(ctx context.Context) error { return w.check(ctx) }

// Commit implements connector.Writer.
func (w *writer) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if err := w.check(ctx); err != nil {
		return connector.SplitState{}, err
	}
	w.sink.cfg.Failpoint("before-commit")
	if w.err = w.makeDurable(); w.err != nil {
		return connector.SplitState{}, w.err
	}
	state = w.committed(state)
	state.Segments = slices.Clone(w.state.Segments)
	for _, seg := range w.pending {
		state.Segments = addSegment(state.Segments, seg)
	}
	w.pending = nil
	w.state = state
	w.state.Segments = slices.Clone(state.Segments)
	w.sink.cfg.Failpoint("after-commit")
	return state, nil
}

// makeDurable syncs what was written and notes where it stands.
func (w *writer) makeDurable() error {
	w.pack()
	if err := w.spill(); err != nil || w.file == nil {
		return err
	}
	from := w.file.durable
	if err := w.file.sync(); err != nil {
		return storage.Doing("sync", filepath.Join(w.staging, w.file.name), err)
	}
	if w.file.durable == from {
		return nil
	}
	seg := connector.Segment{File: w.file.name, Offset: from, Length: w.file.durable - from}
	if w.full() {
		seg.Sealed = true
		if err := w.retire(); err != nil {
			return err
		}
	}
	w.pending = append(w.pending, seg)
	return nil
}

// addSegment adds a segment, joined with the last where it continues it.
func addSegment(segments []connector.Segment, seg connector.Segment) []connector.Segment {
	if n := len(segments); n > 0 {
		last := &segments[n-1]
		if last.File == seg.File && last.Offset+last.Length == seg.Offset {
			last.Length += seg.Length
			last.Sealed = last.Sealed || seg.Sealed
			return segments
		}
	}
	return append(segments, seg)
}

// Close implements connector.Writer. A file with records that are not durable
// is cut back and closed: nothing else follows them.
func (w *writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.release()
	if w.err == nil {
		w.err = errClosed
		if len(w.buf) == 0 && len(w.pending) == 0 && (w.file == nil || w.file.size == w.file.durable && !w.file.open) {
			if w.file == nil {
				return nil
			}
			return w.sink.giveFile(w.attempt.Slot, w.file)
		}
	}
	for _, seg := range w.pending {
		if !w.recorded(seg.File) {
			w.sink.removeStage(w.staging, seg.File)
		}
	}
	if w.file == nil {
		return nil
	}
	return w.abandon()
}

// recorded reports whether a durable segment of this attempt, or of an earlier
// one whose file it went on in, may stand in a file.
func (w *writer) recorded(file string) bool {
	return !slices.Contains(w.made, file) ||
		slices.ContainsFunc(w.state.Segments, func(s connector.Segment) bool { return s.File == file })
}

// abandon leaves of the file what is durable.
func (w *writer) abandon() error {
	f := w.file
	w.file = nil
	if f.durable == f.header {
		err := f.f.Close()
		w.sink.removeStage(w.staging, f.name)
		return err
	}
	if err := f.cutBack(); err != nil {
		// Not known to be closed at its durable length, it will be copied.
		return errors.Join(err, f.f.Close())
	}
	return w.sink.closeFile(f)
}

// errClosed is the error of a writer that was closed.
var errClosed = errors.New("the writer is closed")
