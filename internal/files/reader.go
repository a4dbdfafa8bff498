package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

const (
	// firstRead is what a reader wants in hand before it decodes.
	firstRead = batch.MaxBytes
	// minRead is the room that each read has, leastRead what one that is to make a
	// small batch has.
	minRead   = 64 << 10
	leastRead = 4 << 10
	// maxRecord bounds a record: a quote left open must not take all memory.
	maxRecord = 1 << 30
)

// reader is the connector.Reader of a split of text. Text is read straight
// into the batch's buffer; what the decoder does not take waits in tail.
type reader struct {
	in       input
	decoder  Decoder
	name     string
	lineOf   string // what a line's number follows in messages
	at       place  // of the first byte of tail
	end      int64  // of the split in bytes of the file, 0 when unknown
	seekable bool
	utf8     *validator
	encoding string // what the text was decoded from, in which marks may stand
	closed   atomic.Bool

	tail  []byte
	ended bool // in has proved its end
	want  int  // bytes to have in hand before decoding
	// record is about the size of one.
	record int
	live   bool // decode what is there, however little: its writer may be slow
}

// Next implements connector.Reader.
func (r *reader) Next(ctx context.Context, b *batch.Batch) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.fill(ctx, b); err != nil {
			b.Reset(b.Schema)
			return err
		}
		if len(b.Buf) == 0 {
			return io.EOF
		}
		n, err := r.decode(b)
		if err != nil {
			b.Reset(b.Schema)
			return err
		}
		if len(b.Spans) > 0 || len(b.Rejects) > 0 {
			b.Bytes = int64(n)
			b.Seal()
			return nil
		}
		if n > 0 {
			b.Reset(b.Schema)
		}
	}
}

// fill puts the tail and what follows it into the batch's buffer, which is
// empty or holds the beginning of a record that is longer than it.
func (r *reader) fill(ctx context.Context, b *batch.Batch) error {
	want := r.want
	if len(b.Buf) == 0 {
		want = min(want, r.asked(b.Most))
	}
	if r.end > 0 {
		want = int(min(int64(want), r.end-r.at.offset+1)) // one more, to meet the end
	}
	need := want
	if r.live {
		need = len(b.Buf) + len(r.tail) + 1
	}
	b.Buf = append(batch.Grow(b.Buf, want+minRead), r.tail...)
	r.tail = r.tail[:0]
	if cap(r.tail) > 4*firstRead {
		r.tail = nil
	}
	for !r.ended && len(b.Buf) < need {
		least := min(minRead, want)
		b.Buf = slices.Grow(b.Buf, least)
		room := b.Buf[len(b.Buf):min(cap(b.Buf), max(want, len(b.Buf)+least))]
		n, err := r.in.Read(ctx, room)
		b.Buf = b.Buf[:len(b.Buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			r.ended = true
		case err != nil && r.closed.Load():
			return fmt.Errorf("read %s: %w", r.name, context.Canceled)
		case err != nil:
			return err
		}
	}
	return nil
}

// asked is about how many bytes make the batch that is asked for: a limit is on, and
// there are to be more places to go on from.
func (r *reader) asked(most batch.Bound) int {
	want := firstRead
	if most.Bytes > 0 {
		want = max(leastRead, most.Bytes)
	}
	if most.Rows > 0 && most.Rows < firstRead {
		want = min(want, max(leastRead, most.Rows*r.record))
	}
	return want
}

// decode lets the decoder take records from the buffer, and keeps the rest.
func (r *reader) decode(b *batch.Batch) (int, error) {
	var invalid []byte
	if !r.utf8.valid(r.characters(b.Buf)) {
		invalid = bytes.Clone(b.Buf) // as it was before the decoder rewrites it
	}
	n, lines, err := r.decoder.Decode(b, b.Buf, r.ended, r.at.line)
	if err != nil {
		return 0, fmt.Errorf("%s from line %d: %w", r.name, r.at.line, err)
	}
	if n == 0 {
		return 0, r.needMore(b)
	}
	r.tail = append(r.tail[:0], b.Buf[n:]...)
	b.Buf = b.Buf[:n]
	r.locate(b, lines)
	b.ValidUTF8 = invalid == nil
	if e, ok := r.decoder.(Extender); ok {
		extra := e.Extra()
		b.Buf = append(b.Buf, extra...)
		b.ValidUTF8 = b.ValidUTF8 && validExtra(b.Schema, extra)
	}
	if invalid != nil {
		r.rejectInvalid(b, invalid[:n])
	}
	if len(b.Rejects) > 0 {
		b.NoteRejects()
	}
	for i := range b.Rejects {
		if invalid != nil && r.encoding != utf8Name {
			r.unmarkReject(&b.Rejects[i], b.Schema)
		}
		b.Rejects[i].Where = r.name + ": " + b.Rejects[i].Where
	}
	r.at.offset += int64(n)
	r.at.line += lines
	r.adapt(n, len(b.Spans), len(b.Schema.Fields))
	return n, nil
}

// locate says where the batch's records are: by their lines, if each has one.
// It comes before the records that the batch does not keep are taken out.
func (r *reader) locate(b *batch.Batch, lines int64) {
	records := int64(len(b.Spans)/max(1, len(b.Schema.Fields)) + len(b.Rejects))
	if last := b.Buf[len(b.Buf)-1]; r.ended && last != '\n' && last != '\r' {
		lines++
	}
	switch {
	case r.at.line == 0:
		b.Origin = fmt.Sprintf("%s: behind byte %d", r.name, r.at.offset)
	case lines == records:
		b.First, b.Origin = r.at.line, r.lineOf
	default:
		b.Origin = fmt.Sprintf("%s: lines %d to %d", r.name, r.at.line, r.at.line+lines-1)
	}
}

// needMore makes the next read larger when not even one record was whole.
func (r *reader) needMore(b *batch.Batch) error {
	if r.ended {
		return fmt.Errorf("%s: the record at line %d has no end", r.name, r.at.line)
	}
	if len(b.Buf) >= maxRecord {
		return fmt.Errorf("%s: the record at line %d has not ended after %d bytes: is a quote left open?", r.name, r.at.line, len(b.Buf))
	}
	r.want = max(r.want, 2*len(b.Buf))
	return nil
}

// adapt makes the next read as large as the batch's bounds let be used, so
// that little is copied over as the tail.
func (r *reader) adapt(n, spans, width int) {
	r.want, r.record = firstRead, n/max(1, spans/max(1, width))
	if spans/max(1, width) >= batch.RowsOf(width) {
		r.want = min(firstRead, n+n/8)
	}
}

// rejectInvalid takes the rows out of the batch that are not valid UTF-8.
// text is the buffer before it was decoded.
func (r *reader) rejectInvalid(b *batch.Batch, text []byte) {
	width := len(b.Schema.Fields)
	kept := b.Spans[:0]
	for row := 0; row < len(b.Spans); row += width {
		spans := b.Spans[row : row+width]
		bad := slices.IndexFunc(spans, func(s batch.Span) bool {
			inText := int(s.Off) < len(text) // else the decoder made it
			return s.Len > 0 && inText && !utf8.Valid(b.Buf[s.Off:int(s.Off)+int(s.Len)])
		})
		if bad < 0 {
			kept = append(kept, spans...)
			continue
		}
		cell := b.Buf[spans[bad].Off : int(spans[bad].Off)+int(spans[bad].Len)]
		start := int(spans[bad].Off)
		at := start + firstInvalid(cell)
		values := make([][]byte, width)
		for i, s := range spans {
			if s.Len >= 0 {
				values[i] = append([]byte{}, b.Buf[s.Off:int(s.Off)+int(s.Len)]...)
			}
		}
		line := r.at.line + int64(bytes.Count(text[:start], []byte{lineEndOf(r.decoder)}))
		b.Rejects = append(b.Rejects, batch.Reject{
			Where: fmt.Sprintf("line %d", line), At: line,
			Column: b.Schema.Fields[bad].Name,
			Reason: fmt.Sprintf("byte %d of the text is not valid UTF-8: is the file in another encoding?", r.at.offset+int64(at)),
			Values: values,
		})
	}
	b.Spans = kept
}

// characters leaves out a character that the end of a read has cut: its
// record is taken only with what is read next.
func (r *reader) characters(p []byte) []byte {
	for i := len(p) - 1; !r.ended && i >= max(0, len(p)-utf8.UTFMax); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return p[:i]
			}
			break
		}
	}
	return p
}

// validExtra reports whether the cells that a decoder made are valid UTF-8.
// Those of Bytes may hold halves of a character, which are valid side by side.
func validExtra(schema *batch.Schema, extra []byte) bool {
	if len(extra) == 0 {
		return true
	}
	for i := range schema.Fields {
		if schema.Fields[i].Type.Kind == batch.Bytes {
			return false
		}
	}
	return utf8.Valid(extra)
}

// firstInvalid returns the index of the first byte that is not of a valid character.
func firstInvalid(p []byte) int {
	for i := 0; i < len(p); {
		c, size := utf8.DecodeRune(p[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(p)
}

// Position implements connector.Reader.
func (r *reader) Position() (connector.Position, bool) { return r.at.position(), r.seekable }

// Close implements connector.Reader.
func (r *reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.in.Close()
}
