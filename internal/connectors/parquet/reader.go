package parquet

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

const (
	// stepRows is how many rows are put into a batch column by column.
	stepRows = 512
	// readAhead bounds what all columns together read at once; a column reads
	// between leastRead and mostRead.
	readAhead = 8 << 20
	leastRead = 16 << 10
	mostRead  = 256 << 10
)

// reader is the connector.Reader of some row groups of a file.
type reader struct {
	file   storage.File
	id     files.Identity
	footer *format.Footer
	last   int // the first row group that is another split's
	flat   []*flatColumn
	nested []*nestedColumn
	width  int
	utf8   bool // all columns are
	dec    format.Decompressor
	closed atomic.Bool

	opened bool  // the row group's columns are
	group  int   // the current row group
	row    int64 // taken of it
	first  int64 // the number of its first row in the file, from 1
}

// flatColumn is a column that has at most one value in a record.
type flatColumn struct {
	chunk
	index  int // in the schema
	length int // of its values, 0 where each has its own
}

// Next implements connector.Reader.
func (r *reader) Next(ctx context.Context, b *batch.Batch) error {
	if err := r.fill(ctx, b); err != nil {
		b.Reset(b.Schema)
		if r.closed.Load() {
			err = fmt.Errorf("read %s: %w", r.id.Path, context.Canceled)
		}
		return err
	}
	return nil
}

func (r *reader) fill(ctx context.Context, b *batch.Batch) error {
	room := b.Room(r.width)
	for taken := 0; taken < room.Rows && len(b.Buf) < room.Bytes; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.row == r.rows() {
			if taken > 0 {
				break // a batch ends with its row group, so that its rows are told by one number
			}
			more, err := r.nextGroup()
			if err != nil {
				return err
			}
			if !more {
				return r.id.ProveEnd(r.file)
			}
			continue
		}
		if !r.opened {
			if err := r.openGroup(); err != nil {
				return err
			}
		}
		if taken == 0 {
			b.First, b.Origin = r.first+r.row, r.id.Path+": row"
		}
		n, err := r.step(b, batch.Bound{Rows: room.Rows - taken, Bytes: room.Bytes - len(b.Buf)})
		if err != nil {
			return err
		}
		taken += n
	}
	r.letGo()
	b.ValidUTF8 = r.utf8
	b.Seal()
	b.NoteRejects()
	return nil
}

// letGo lets the memory of huge pages go whose values are all in batches.
func (r *reader) letGo() {
	for _, c := range r.flat {
		c.letGo()
	}
	for _, c := range r.nested {
		for _, leaf := range c.leaves {
			leaf.letGo()
		}
	}
}

// rows is how many rows the current row group has.
func (r *reader) rows() int64 {
	if r.group >= r.last {
		return 0
	}
	return r.footer.Groups[r.group].Rows
}

// nextGroup proves that the row group was read whole and goes to the next.
func (r *reader) nextGroup() (more bool, err error) {
	if r.group >= r.last {
		return false, nil
	}
	if r.opened {
		for _, c := range r.chunks() {
			if err := c.done(); err != nil {
				return false, r.columnError(c, err)
			}
		}
	}
	r.first += r.rows()
	r.group, r.row, r.opened = r.group+1, 0, false
	return r.group < r.last, nil
}

// chunks returns all leaves that are read.
func (r *reader) chunks() []*chunk {
	var all []*chunk
	for _, c := range r.flat {
		all = append(all, &c.chunk)
	}
	for _, c := range r.nested {
		all = append(all, c.leaves...)
	}
	return all
}

func (r *reader) columnError(c *chunk, err error) error {
	return connector.Errorf(connector.Permanent, "%s: row group %d: the column %s %w", r.id.Path, r.group, c.leaf.Name, err)
}

// openGroup opens the columns of the current row group, and passes over the
// rows that were read before.
func (r *reader) openGroup() error {
	g := &r.footer.Groups[r.group]
	chunks := r.chunks()
	readSize := min(max(readAhead/max(1, len(chunks)), leastRead), mostRead)
	for _, c := range chunks {
		if c.leaf.leaf >= len(g.Chunks) {
			return r.columnError(c, fmt.Errorf("is missing"))
		}
		meta := &g.Chunks[c.leaf.leaf]
		err := c.open(r.file, r.id.Size, meta, readSize)
		if err == nil && c.leaf.flat() && meta.Values != g.Rows {
			err = fmt.Errorf("has %d values for %d rows", meta.Values, g.Rows)
		}
		if err != nil {
			return r.columnError(c, err)
		}
	}
	r.opened = true
	for _, c := range r.flat {
		for left := r.row; left > 0; {
			if err := c.fill(); err != nil {
				return r.columnError(&c.chunk, err)
			}
			n := min(int64(c.w.n-c.w.pos), left)
			c.w.pos += int(n)
			left -= n
		}
	}
	for _, c := range r.nested {
		for range r.row {
			if err := c.skip(); err != nil {
				return r.columnError(c.leaves[0], err)
			}
		}
	}
	return nil
}

// step puts the next rows into the batch, column by column, and returns their
// number: about as much as there is room for, and one row at least.
func (r *reader) step(b *batch.Batch, room batch.Bound) (int, error) {
	n := int(min(int64(min(room.Rows, stepRows)), r.rows()-r.row))
	longest := 0
	for _, c := range r.flat {
		if err := c.fill(); err != nil {
			return 0, r.columnError(&c.chunk, err)
		}
		n = min(n, c.w.n-c.w.pos)
		longest += c.w.longest
	}
	for _, c := range r.nested {
		longest += c.longest()
	}
	if longest > 0 {
		n = max(1, min(n, room.Bytes/longest))
	}
	base := len(b.Spans)
	b.Spans = slices.Grow(b.Spans, n*r.width)[:base+n*r.width]
	spans := b.Spans[base:]
	var faults []fault
	for _, c := range r.flat {
		faults = c.take(b, spans, n, r.width, faults)
	}
	for _, c := range r.nested {
		var err error
		if faults, err = c.take(b, spans, n, r.width, faults); err != nil {
			return 0, r.columnError(c.leaves[0], err)
		}
	}
	if len(faults) > 0 {
		r.reject(b, base, faults)
	}
	r.row += int64(n)
	return n, nil
}

// fault is a value that cannot be told.
type fault struct {
	row, column int
	err         error
}

// take puts the texts of the next n rows where they belong.
func (c *flatColumn) take(b *batch.Batch, spans []batch.Span, n, width int, faults []fault) []fault {
	w := &c.w
	from := w.spans[w.pos : w.pos+n]
	buf := b.Buf
	values, bytes := 0, 0
	if w.ordered {
		// What follows one another in the window does so in the batch too.
		first, end := -1, 0
		for _, s := range from {
			if s.Len >= 0 {
				if first < 0 {
					first = int(s.Off)
				}
				end = int(s.Off) + int(s.Len)
			}
		}
		shift := uint32(len(buf))
		if first >= 0 {
			buf = append(buf, w.data[first:end]...)
			shift -= uint32(first)
		}
		for i, s := range from {
			if s.Len >= 0 {
				values++
				bytes += int(s.Len)
				s.Off += shift
			}
			spans[i*width+c.index] = s
		}
	} else {
		for i, s := range from {
			if s.Len >= 0 {
				values++
				bytes += int(s.Len)
				off := uint32(len(buf))
				buf = append(buf, w.data[s.Off:s.Off+uint32(s.Len)]...)
				s.Off = off
			}
			spans[i*width+c.index] = s
		}
	}
	b.Buf = buf
	if c.length > 0 {
		bytes = values * c.length
	}
	b.Bytes += int64(bytes)
	if len(w.faults) > 0 {
		for i := range from {
			if err, ok := w.faults[w.pos+i]; ok {
				spans[i*width+c.index] = batch.NullSpan()
				faults = append(faults, fault{i, c.index, err})
			}
		}
	}
	w.pos += n
	return faults
}

// reject takes the rows with faults out of the batch, to which they were
// added from a span on.
func (r *reader) reject(b *batch.Batch, base int, faults []fault) {
	slices.SortStableFunc(faults, func(x, y fault) int { return x.row - y.row })
	spans := b.Spans[base:]
	kept := b.Spans[:base]
	for row := 0; row*r.width < len(spans); row++ {
		cells := spans[row*r.width : (row+1)*r.width]
		if len(faults) == 0 || faults[0].row != row {
			kept = append(kept, cells...)
			continue
		}
		f := faults[0]
		for len(faults) > 0 && faults[0].row == row {
			faults = faults[1:]
		}
		at := r.first + r.row + int64(row)
		x := batch.Reject{
			Where: fmt.Sprintf("%s: row %d", r.id.Path, at), At: at,
			Column: b.Schema.Fields[f.column].Name, Reason: f.err.Error(), Values: make([][]byte, r.width),
		}
		for i, s := range cells {
			if s.Len >= 0 {
				x.Values[i] = append([]byte{}, b.Buf[s.Off:s.Off+uint32(s.Len)]...)
			}
		}
		b.Rejects = append(b.Rejects, x)
	}
	b.Spans = kept
}

// Position implements connector.Reader.
func (r *reader) Position() (connector.Position, bool) {
	if r.group < r.last && r.row == r.rows() {
		return position(r.group+1, 0), true
	}
	return position(r.group, r.row), true
}

// Close implements connector.Reader.
func (r *reader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.file.Close()
}
