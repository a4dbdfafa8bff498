package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

const (
	// firstHead and maxHead bound how much of a file is read for its columns.
	firstHead = 64 << 10
	maxHead   = 64 << 20
)

// beginning is what the start of a file tells.
type beginning struct {
	id          Identity
	compression Compression
	text        bool // offsets count bytes of the decoded text
	bom         int64
	preamble    int64
	lines       int64
}

// look reads the start of a file: its columns, and where its records begin.
func (s *Source) look(ctx context.Context, path string) (*batch.Schema, beginning, error) {
	f, err := s.cfg.FS.Open(path)
	if err != nil {
		return nil, beginning{}, err
	}
	defer func() { _ = f.Close() }()
	var b beginning
	if b.id, err = IdentifyFile(f, path); err != nil {
		return nil, b, storage.Doing("read", path, err)
	}
	magic := make([]byte, 4)
	n, err := f.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, b, err
	}
	magic = magic[:n]
	b.compression = detect(s.cfg.Options.Compression, path, magic)
	b.text = b.compression != Plain || s.encoding != utf8Name
	if !b.text {
		bom, err := bomLength(magic, path)
		if err != nil {
			return nil, b, err
		}
		b.bom = int64(bom)
	}
	text, err := s.text(f, path, b.compression)
	if err != nil {
		return nil, b, err
	}
	schema, n, lines, err := s.headOf(ctx, &head{r: text}, path)
	b.preamble, b.lines = int64(n), lines
	return schema, b, err
}

// headOf finds the columns and the preamble at the start of a text.
func (s *Source) headOf(ctx context.Context, h *head, name string) (*batch.Schema, int, int64, error) {
	for size := firstHead; ; size = max(firstHead, 4*len(h.data)) {
		if err := h.grow(ctx, size); err != nil {
			return nil, 0, 0, fmt.Errorf("read the start of %s: %w", name, err)
		}
		n, lines, ok, err := s.cfg.Format.Preamble(h.data, h.whole)
		if err != nil {
			return nil, 0, 0, fmt.Errorf("%s: %w", name, err)
		}
		var schema *batch.Schema
		if ok {
			if schema, ok, err = s.cfg.Schema(h.data, h.whole); err != nil {
				return nil, 0, 0, fmt.Errorf("%s: %w", name, err)
			}
		}
		if ok {
			return schema, n, lines, nil
		}
		if h.whole || len(h.data) >= maxHead {
			return nil, 0, 0, connector.Errorf(connector.Permanent, "%s: its columns are not found in its first %d bytes", name, len(h.data))
		}
	}
}

// head is the start of a text, read as far as it is asked for.
type head struct {
	r     io.Reader
	data  []byte
	whole bool
	live  bool // take what comes: a writer may wait for an answer
}

// grow reads until size bytes are there, or any more if live.
func (h *head) grow(ctx context.Context, size int) error {
	if h.live {
		size = len(h.data) + 1
	}
	for !h.whole && len(h.data) < size {
		if err := ctx.Err(); err != nil {
			return err
		}
		h.data = slices.Grow(h.data, minRead)
		n, err := h.r.Read(h.data[len(h.data):cap(h.data)])
		h.data = h.data[:len(h.data)+n]
		if errors.Is(err, io.EOF) {
			h.whole = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sameColumns compares the columns of a file with those of the first.
func sameColumns(first, schema *batch.Schema, path string) error {
	want, got := first.Names(), schema.Names()
	if slices.Equal(want, got) {
		return nil
	}
	for i, name := range want {
		if i >= len(got) || got[i] != name {
			return connector.Errorf(connector.Permanent,
				"%s has other columns than the first file: %d of them, %d there; column %d is not %q", path, len(got), len(want), i+1, name)
		}
	}
	return connector.Errorf(connector.Permanent,
		"%s has other columns than the first file: %q is one more", path, got[len(want)])
}
