package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// stdin is standard input: read once, by a goroutine of its own, since a read
// of a pipe cannot be interrupted. Its start is kept for whoever looks for
// the columns.
type stdin struct {
	src    io.Reader
	chunks chan chunk
	done   chan struct{}
	once   sync.Once
	start  sync.Once
	rest   []byte // of the last chunk
	err    error

	ctx      context.Context // of the call that reads now
	head     *head           // the decoded text, read as far as its start
	preamble int
	lines    int64
	taken    bool // a reader has it
}

type chunk struct {
	data []byte
	err  error
}

func newStdin(src io.Reader) *stdin {
	return &stdin{src: src, chunks: make(chan chunk), done: make(chan struct{})}
}

// pump ends at the end of the input, or after the read during which Close is
// called: a read of a terminal or a pipe may outlast the job.
func (s *stdin) pump() {
	for {
		c := chunk{data: make([]byte, minRead)}
		n, err := s.src.Read(c.data)
		c.data, c.err = c.data[:n], err
		select {
		case s.chunks <- c:
		case <-s.done:
			return
		}
		if err != nil {
			return
		}
	}
}

// read is Read with a context.
func (s *stdin) read(ctx context.Context, p []byte) (int, error) {
	if s.src == nil {
		return 0, connector.Errorf(connector.Usage, "there is no standard input")
	}
	s.start.Do(func() { go s.pump() })
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		select {
		case c := <-s.chunks:
			s.rest, s.err = c.data, c.err
		case <-s.done:
			return 0, context.Canceled
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Read implements io.Reader for the decoders, in the context of the call.
func (s *stdin) Read(p []byte) (int, error) { return s.read(s.ctx, p) }

// Close ends reading.
func (s *stdin) Close() (err error) {
	s.once.Do(func() {
		close(s.done)
		begun := true
		s.start.Do(func() { begun = false })
		// Unread, it is left to another source that may be made of it.
		if c, ok := s.src.(io.Closer); ok && begun {
			if err = c.Close(); errors.Is(err, io.ErrClosedPipe) {
				err = nil
			}
		}
	})
	return err
}

// stdinSchema finds the columns at the start of standard input.
func (s *Source) stdinSchema(ctx context.Context) (*batch.Schema, error) {
	in := s.stdin
	in.ctx = ctx
	magic := make([]byte, 0, 4)
	var end error
	for len(magic) < cap(magic) && end == nil {
		var n int
		n, end = in.Read(magic[len(magic):cap(magic)])
		magic = magic[:len(magic)+n]
	}
	if end != nil && !errors.Is(end, io.EOF) {
		return nil, end
	}
	raw := io.MultiReader(bytes.NewReader(magic), in)
	text, err := s.text(raw, stdinName, detect(s.cfg.Options.Compression, "", magic))
	if err != nil {
		return nil, err
	}
	in.head = &head{r: text, live: true}
	schema, n, lines, err := s.headOf(ctx, in.head, stdinName)
	in.preamble, in.lines = n, lines
	return schema, err
}

const stdinName = "standard input"

// stdinSplit is the one split of standard input.
func (s *Source) stdinSplit(first connector.SplitID) connector.Enumeration {
	sp := spec{Stdin: true, Line: 1}
	return connector.Enumeration{
		Splits: []connector.Split{{ID: first, Spec: sp.encode(), Label: stdinName}},
		Done:   true,
	}
}

// openStdin hands standard input to its one reader.
func (s *Source) openStdin() (input, place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.stdin
	if in.taken {
		return nil, place{}, connector.Errorf(connector.Permanent,
			"standard input has been read already: start the job again and feed it once more")
	}
	in.taken = true
	rest := io.MultiReader(bytes.NewReader(in.head.data[in.preamble:]), in.head.r)
	if in.head.whole {
		rest = bytes.NewReader(in.head.data[in.preamble:])
	}
	return &stdinText{in, rest}, place{int64(in.preamble), in.lines + 1}, nil
}

// stdinText is the input of standard input's reader. That it ends is all the
// proof there is.
type stdinText struct {
	in   *stdin
	text io.Reader
}

// Read implements input.
func (t *stdinText) Read(ctx context.Context, p []byte) (int, error) {
	t.in.ctx = ctx
	n, err := t.text.Read(p)
	if n > 0 {
		return n, nil // the error comes again
	}
	return 0, err
}

// Close implements input.
func (t *stdinText) Close() error { return t.in.Close() }
