package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// input is the text of a split from a place in it.
type input interface {
	// Read reads like io.Reader. Its io.EOF means that the end is proved
	// (exactness rule 12).
	Read(ctx context.Context, p []byte) (int, error)
	// Close may be called from another goroutine while Read runs.
	Close() error
}

// fileRange is the range of a file whose text stands in it as it is.
type fileRange struct {
	f           storage.File
	id          Identity
	offset, end int64
}

// Read implements input.
func (r *fileRange) Read(_ context.Context, p []byte) (int, error) {
	if r.offset == r.end {
		return 0, r.id.ProveEnd(r.f)
	}
	n, err := r.f.ReadAt(p[:min(int64(len(p)), r.end-r.offset)], r.offset)
	r.offset += int64(n)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, r.id.Changed(fmt.Sprintf("it ends at byte %d, before byte %d", r.offset, r.end))
	default:
		return 0, connector.E(connector.Retryable, err)
	}
}

// Close implements input.
func (r *fileRange) Close() error { return r.f.Close() }

// textFile is the decoded text of a file.
type textFile struct {
	f    storage.File
	id   Identity
	text io.Reader
}

// Read implements input. The text's own io.EOF proves that compressed data
// was whole.
func (t *textFile) Read(_ context.Context, p []byte) (int, error) {
	n, err := t.text.Read(p)
	switch {
	case err == nil || n > 0 && errors.Is(err, io.EOF):
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, t.id.ProveEnd(t.f)
	default:
		return n, fmt.Errorf("%s is broken or cut off: %w", t.id.Path, err)
	}
}

// skip goes to an offset of the text.
func (t *textFile) skip(ctx context.Context, offset int64) error {
	p := make([]byte, min(offset, 256<<10))
	for offset > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := t.Read(ctx, p[:min(int64(len(p)), offset)])
		offset -= int64(n)
		if errors.Is(err, io.EOF) {
			return connector.Errorf(connector.Permanent, "%s: its text ends before the place where reading has to go on", t.id.Path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements input.
func (t *textFile) Close() error { return t.f.Close() }

// stripBOM leaves out the byte order mark at the start of a text, and refuses
// the one of another encoding.
func stripBOM(r io.Reader, name string) (io.Reader, error) {
	head := make([]byte, 64) // room for any character
	n := 0
	var end error
	for n < len(bomUTF8) && end == nil {
		var read int
		read, end = r.Read(head[n:])
		n += read
	}
	head = head[:n]
	if end != nil {
		r = errReader{end}
	}
	skip, err := bomLength(head, name)
	if err != nil {
		return nil, err
	}
	return io.MultiReader(bytes.NewReader(head[skip:]), r), nil
}

// bomLength returns the length of the mark that a UTF-8 text begins with.
func bomLength(head []byte, name string) (int, error) {
	switch {
	case bytes.HasPrefix(head, []byte(bomUTF8)):
		return len(bomUTF8), nil
	case bytes.HasPrefix(head, []byte(bomUTF16LE)), bytes.HasPrefix(head, []byte(bomUTF16BE)):
		return 0, connector.Errorf(connector.Usage, "%s begins with the byte order mark of UTF-16: set encoding: utf-16", name)
	}
	return 0, nil
}

// errReader ends with an error that was met before.
type errReader struct{ err error }

// Read implements io.Reader.
func (r errReader) Read([]byte) (int, error) { return 0, r.err }
