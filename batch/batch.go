package batch

import "fmt"

// The bounds of a batch. A reader ends a batch at the first it reaches; a
// single record may be larger than MaxBytes and then travels alone.
const (
	MaxRows  = 8192
	MaxBytes = 1 << 20
	// maxCells bounds the rows of a wide batch, whose cells may all be empty.
	maxCells = 1 << 17
)

// RowsOf is the most rows of a batch of so many columns: MaxRows, and fewer
// where there are more than 16.
func RowsOf(columns int) int { return max(1, min(MaxRows, maxCells/max(1, columns))) }

// Batch is some records of one schema. A reader fills Buf and Spans and sets
// Rows; Columns then finds the cells. See the package comment for the
// representation and for who owns what.
type Batch struct {
	// Schema names and types the columns.
	Schema *Schema
	// Rows is the number of records.
	Rows int
	// Columns has one entry per field of Schema.
	Columns []Column
	// Bytes is the size of the records as limits and counters count it:
	// uncompressed record bytes of text files, field payload bytes of
	// databases.
	Bytes int64
	// Read is the number of records that the reader took from the source for
	// this batch: Rows and Rejects before any filter.
	Read int64
	// First is the ordinal within the split's source of the first record read
	// (a line or record number, from 1), 0 when records cannot be counted from
	// there. Origin says of what, "orders.csv: line", or, with First 0, about
	// where the records are; it may be empty.
	First  int64
	Origin string
	// Gone are the records read that are no rows of the batch, rising, counted
	// from 0 at First: Rows and Gone together are Read. They are kept only
	// where First is not 0; a reader that cannot tell them leaves them out.
	Gone []int32
	// ValidUTF8 says that every cell is valid UTF-8, so that nobody has to
	// look again; false when that was not judged. Readers set it, and who
	// adds cells to the batch clears it unless it holds for them too.
	ValidUTF8 bool
	// Rejects are records that the reader could not turn into a row.
	Rejects []Reject

	// Most asks the reader for a smaller batch than it would make: it ends it
	// there, where it can.
	Most Bound

	// Packing reads the rows of a packed batch, one without Columns, which only
	// a writer gets that takes it; nil for all others.
	Packing Packing

	// Buf and Spans are the batch's own store, for readers to fill.
	Buf   []byte
	Spans []Span

	pool *Pool
}

// Reject is a record that is dirty: why, and what it was.
type Reject struct {
	// Where says which record it was, as a person would look for it: "line 17".
	Where string
	// At is the record's ordinal, counted as Batch.First is; 0 when it is not known.
	At int64
	// Column is the field at fault, empty when it is the whole record's.
	Column string
	// Reason says what is wrong with it, Cause of which kind that is.
	Reason string
	Cause  Cause
	// Raw is the record as the source had it, when it cannot be told in columns.
	Raw []byte
	// Values are the record's cells, nil when Raw is set. A nil cell is NULL.
	// Names are their columns, nil for those of the batch's schema.
	Names  []string
	Values [][]byte
}

// Bound is a number of rows and of bytes; 0 is none.
type Bound struct{ Rows, Bytes int }

// Cause is why a record is dirty, as far as it is told.
type Cause uint8

// The causes.
const (
	// CauseUntold is for who does not say: of a reader that it could not make a
	// row of the record.
	CauseUntold Cause = iota
	// CauseNull is a NULL where none may be.
	CauseNull
	// CauseDuplicate is a key that another record has.
	CauseDuplicate
	// CauseConversion is a value that is none of its column's type.
	CauseConversion
	// CauseOther is a check, a foreign key, what a trigger says, and all else.
	CauseOther
)

// Reset empties the batch for a schema and keeps its memory.
func (b *Batch) Reset(s *Schema) {
	b.Schema = s
	b.Rows, b.Bytes, b.Read, b.First, b.Origin = 0, 0, 0, 0, ""
	b.ValidUTF8, b.Packing, b.Most = false, nil, Bound{}
	b.Buf = b.Buf[:0]
	b.Spans = b.Spans[:0]
	b.Columns = b.Columns[:0]
	b.Gone = b.Gone[:0]
	b.Rejects = b.Rejects[:0]
}

// Append adds a cell, copying its bytes; nil is NULL. Cells are added row by
// row, each row whole; Seal makes them readable.
func (b *Batch) Append(cell []byte) {
	if cell == nil {
		b.Spans = append(b.Spans, NullSpan())
		return
	}
	off := len(b.Buf)
	b.Buf = append(b.Buf, cell...)
	b.Spans = append(b.Spans, Span{Off: uint32(off), Len: int32(len(cell))})
}

// AppendFrom adds the cell that the caller has appended to Buf since it was
// off bytes long.
func (b *Batch) AppendFrom(off int) {
	b.Spans = append(b.Spans, Span{Off: uint32(off), Len: int32(len(b.Buf) - off)})
}

// AppendNull adds a NULL cell.
func (b *Batch) AppendNull() { b.Spans = append(b.Spans, NullSpan()) }

// Full reports whether a reader should hand the batch on before another record.
func (b *Batch) Full() bool {
	width := max(1, len(b.Schema.Fields))
	return b.full(width, width)
}

// FullPacked is Full for a batch of packed rows, each with so many columns.
func (b *Batch) FullPacked(columns int) bool { return b.full(1, columns) }

// full is Full where each row has so many spans, for so many columns.
func (b *Batch) full(spans, columns int) bool {
	if most := b.Most; most.Bytes > 0 && len(b.Buf) >= most.Bytes || most.Rows > 0 && len(b.Spans) >= most.Rows*spans {
		return len(b.Spans) > 0
	}
	return len(b.Buf) >= MaxBytes || len(b.Spans) >= RowsOf(columns)*spans
}

// Room is the most rows and bytes that a reader should put into the batch, which
// has so many columns: its bounds, and what Most asks for.
func (b *Batch) Room(columns int) Bound {
	room := Bound{Rows: RowsOf(columns), Bytes: MaxBytes}
	if b.Most.Rows > 0 {
		room.Rows = min(room.Rows, b.Most.Rows)
	}
	if b.Most.Bytes > 0 {
		room.Bytes = min(room.Bytes, b.Most.Bytes)
	}
	return room
}

// Seal makes the row-major cells in Buf and Spans the batch's columns and
// counts its rows. It panics when the last row is not whole: a reader's bug.
func (b *Batch) Seal() {
	width := len(b.Schema.Fields)
	if width == 0 || len(b.Spans)%width != 0 {
		panic(fmt.Sprintf("batch: %d cells do not make rows of %d", len(b.Spans), width))
	}
	if b.Buf == nil {
		b.Buf = []byte{}
	}
	b.Rows = len(b.Spans) / width
	b.Read = int64(b.Rows + len(b.Rejects))
	b.Columns = b.Columns[:0]
	for i := range width {
		b.Columns = append(b.Columns, Column{Data: b.Buf, Spans: b.Spans, First: i, Stride: width})
	}
}

// Row copies the cells of row i, for a record that is to outlive the batch.
func (b *Batch) Row(i int) [][]byte {
	if b.Packing != nil {
		return b.Packing.Cells(b.PackedRow(i))
	}
	values := make([][]byte, len(b.Columns))
	for c := range b.Columns {
		if cell := b.Columns[c].Cell(i); cell != nil {
			values[c] = append([]byte{}, cell...)
		}
	}
	return values
}

// Forget lets the cells of a huge record go: its rows are counted still, and
// cannot be read any more. It is the owner's to call, in place of reading.
func (b *Batch) Forget() {
	if cap(b.Buf) >= Huge {
		b.Buf, b.Spans, b.Columns = nil, nil, nil
	}
}

// Release gives the batch back to its pool. The caller must not use it again.
func (b *Batch) Release() {
	if b.pool != nil {
		b.pool.put(b)
	}
}
