package csv

import (
	"bytes"

	"github.com/leatdata/leat/batch"
)

// isAsRead reports whether a batch's columns are the rows of its spans, all in
// one buffer, as a reader of text leaves them.
func isAsRead(b *batch.Batch) bool {
	width := len(b.Columns)
	if len(b.Spans) != b.Rows*width || len(b.Buf) == 0 {
		return false
	}
	for i := range b.Columns {
		c := &b.Columns[i]
		if c.First != i || c.Stride != width || len(c.Spans) == 0 || &c.Spans[0] != &b.Spans[0] || len(c.Data) == 0 || &c.Data[0] != &b.Buf[0] {
			return false
		}
	}
	return true
}

const (
	// shortRun is the length from which the text of a run is worth a look.
	shortRun = 48
	// fewRows is after how many rows runs are looked for no more, unless they
	// have held half of the cells.
	fewRows = 32
)

// rowAsRead is cells for a whole row in which there may be runs. copied is the
// number of cells that were in one.
func (e *encoder) rowAsRead(dst []byte, b *batch.Batch, r int) (row []byte, copied int, f fault) {
	width := len(b.Columns)
	for c := 0; c < width; {
		n, text := e.run(b.Buf, b.Spans[r*width+c:(r+1)*width])
		if text != nil {
			dst = append(append(dst, text...), e.delim)
			copied += n
		} else if dst, f = e.cells(dst, b, r, c, c+n); f.reason != "" {
			return dst, copied, f
		}
		c += n
	}
	return dst, copied, f
}

// run counts the first cells of a row that stand side by side in data with
// the delimiter between them, and any first one that does not. When nothing in
// them has to be quoted, text is what is to be written of them; else nil.
func (e *encoder) run(data []byte, spans []batch.Span) (cells int, text []byte) {
	nullLen, shortest := int32(len(e.null)), int32(0)
	if nullLen == 0 {
		shortest = -1 // NULL is a bare empty field
	}
	start := spans[0].Off
	end := start // of the last cell
	for i, s := range spans {
		n := s.Len
		if n == 0 || n == nullLen || n < shortest || i > 0 && (s.Off != end+1 || data[end] != e.delim) {
			break
		}
		end = s.Off + uint32(max(n, 0))
		cells++
	}
	text = data[start:end]
	if cells < 2 || len(text) < shortRun || bytes.IndexByte(text, e.quote) >= 0 || bytes.IndexByte(text, '\n') >= 0 ||
		bytes.IndexByte(text, '\r') >= 0 || bytes.Count(text, []byte{e.delim}) != cells-1 {
		return max(cells, 1), nil
	}
	return cells, text
}
