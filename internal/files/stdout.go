package files

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// stdout is standard output: what is written to it is gone, so that records
// are there at least once.
type stdout struct {
	w io.Writer

	mu      sync.Mutex
	started bool // the header has been written
}

// claim returns the writer of an attempt.
func (o *stdout) claim(s *Sink, a connector.Attempt, state connector.SplitState) connector.Writer {
	w := &stdoutWriter{encoded: s.encoded(a, state), out: o, to: o.w}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.started {
		o.started = true
		w.buf = w.encoder.Header(nil)
	}
	c, err := s.target.compression.writer(o.w)
	if c != nil {
		w.member, w.to = c, c
	}
	w.err = err
	return w
}

// stdoutWriter is the connector.Writer of an attempt.
type stdoutWriter struct {
	encoded
	out    *stdout
	member compressor // nil when plain
	to     io.Writer
	open   bool
	err    error
}

// Write implements connector.Writer.
func (w *stdoutWriter) Write(ctx context.Context, b *batch.Batch) error {
	defer b.Release()
	if w.err == nil {
		w.err = ctx.Err()
	}
	if w.err != nil {
		return w.err
	}
	w.add(b)
	if len(w.buf) >= spillSize {
		w.err = w.spill()
	}
	return w.err
}

func (w *stdoutWriter) spill() error {
	if len(w.buf) == 0 {
		return nil
	}
	if w.member != nil && !w.open {
		w.member.Reset(w.out.w)
		w.open = true
	}
	_, err := w.to.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Flush implements connector.Writer.
func (w *stdoutWriter) Flush(context.Context) error { return w.err }

// Commit implements connector.Writer: all is handed to the stream.
func (w *stdoutWriter) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if w.err == nil {
		w.err = ctx.Err()
	}
	if w.err == nil {
		w.err = w.spill()
	}
	if w.err == nil && w.open {
		w.open = false
		w.err = w.member.Close()
	}
	if w.err != nil {
		return connector.SplitState{}, w.err
	}
	state = w.committed(state)
	w.state = state
	return state, nil
}

// Close implements connector.Writer.
func (w *stdoutWriter) Close() error {
	if w.err == nil {
		w.err = errClosed
	}
	if w.open {
		w.open = false
		return errors.Join(w.member.Close())
	}
	return nil
}

// finish writes the header, or an empty member, when there was no record.
func (o *stdout) finish(s *Sink) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.started {
		return nil
	}
	o.started = true
	return writeEmpty(o.w, s.target.compression, s.cfg.Format.NewEncoder(s.schema).Header(nil))
}

// writeEmpty writes a file's header alone.
func writeEmpty(w io.Writer, c Compression, header []byte) error {
	member, err := c.writer(w)
	if err != nil {
		return err
	}
	if member == nil {
		_, err := w.Write(header)
		return err
	}
	_, err = member.Write(header)
	return errors.Join(err, member.Close())
}
