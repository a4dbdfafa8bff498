package task

import (
	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/ratelimit"
)

// slicer cuts a batch into smaller ones. It copies cells: it only works while a
// limit is on.
type slicer struct {
	whole *batch.Batch // nil when nothing is held
	// row is the next row, record the next record that was read for the batch,
	// and gone the next of those that are no rows.
	row, record, gone int
	rejects           int
	// A row counts scale of its cells' bytes, and perRow beside them; bytes are
	// those of the rows that are left.
	scale  float64
	perRow int64
	bytes  int64
}

func (s *slicer) empty() bool { return s.whole == nil }

// takes reports whether a batch should be cut.
func (s *slicer) takes(b *batch.Batch, most ratelimit.Amount) bool {
	return b.Rows > 1 && (most.Bytes > 0 && b.Bytes > most.Bytes || most.Records > 0 && b.Read > most.Records)
}

// hold takes the content of b, for which it is given an empty batch of the pool.
func (s *slicer) hold(b, empty *batch.Batch) {
	*b, *empty = *empty, *b
	*s = slicer{whole: empty, bytes: empty.Bytes, scale: 1}
	cells := int64(0)
	for row := range empty.Rows {
		cells += rowBytes(empty, row)
	}
	s.perRow = max(0, empty.Bytes-cells) / int64(empty.Rows)
	if cells > empty.Bytes {
		s.scale = float64(empty.Bytes) / float64(cells)
	}
}

// rowBytes are the bytes of a row's cells.
func rowBytes(b *batch.Batch, row int) (n int64) {
	if b.Packing != nil {
		return int64(len(b.PackedRow(row)))
	}
	for c := range b.Columns {
		n += int64(len(b.Columns[c].Cell(row)))
	}
	return n
}

// next fills b with the next rows, up to most and at least one. With the last
// of them the slicer is empty.
func (s *slicer) next(b *batch.Batch, most ratelimit.Amount) {
	w := s.whole
	bytes, first := int64(0), s.record
	rows := 0
	for s.row+rows < w.Rows {
		size := min(int64(s.scale*float64(rowBytes(w, s.row+rows)))+s.perRow, s.bytes-bytes)
		if rows > 0 && (most.Bytes > 0 && bytes+size > most.Bytes || most.Records > 0 && int64(rows) >= most.Records) {
			break
		}
		bytes += size
		rows++
	}
	s.copyRows(b, rows)
	s.row += rows
	last := s.row == w.Rows
	if last {
		bytes = s.bytes
	}
	s.copyGone(b, rows, last)
	b.Bytes, b.ValidUTF8, b.Origin = bytes, w.ValidUTF8, w.Origin
	s.bytes -= bytes
	if w.First > 0 {
		b.First = w.First + int64(first)
	}
	if last {
		s.whole = nil
		w.Release()
	}
}

// copyRows copies rows from the next one on, and seals them.
func (s *slicer) copyRows(b *batch.Batch, rows int) {
	w := s.whole
	for row := s.row; row < s.row+rows; row++ {
		if w.Packing != nil {
			b.AppendPacked(w.PackedRow(row))
			continue
		}
		for c := range w.Columns {
			b.Append(w.Columns[c].Cell(row))
		}
	}
	if w.Packing != nil {
		b.SealPacked(w.Packing)
	} else {
		b.Seal()
	}
}

// copyGone gives the slice the records between its rows that are no rows. Where
// the batch does not tell them, the first slice has them all.
func (s *slicer) copyGone(b *batch.Batch, rows int, last bool) {
	w := s.whole
	first := s.record
	if w.First == 0 || int64(w.Rows+len(w.Gone)) != w.Read {
		if s.row == rows { // the first slice
			b.Rejects = append(b.Rejects, w.Rejects...)
			b.Gone = append(b.Gone, w.Gone...)
			b.Read += w.Read - int64(w.Rows)
		}
		s.record += rows
		return
	}
	for taken := 0; taken < rows || last && s.gone < len(w.Gone); s.record++ {
		if s.gone < len(w.Gone) && int(w.Gone[s.gone]) == s.record {
			b.Gone = append(b.Gone, int32(s.record-first))
			s.gone++
			continue
		}
		taken++
	}
	b.Read = int64(s.record - first)
	s.moveRejects(b, last)
}

// moveRejects gives the slice the rejects of its records.
func (s *slicer) moveRejects(b *batch.Batch, last bool) {
	w := s.whole
	for ; s.rejects < len(w.Rejects); s.rejects++ {
		r := w.Rejects[s.rejects]
		if !last && r.At >= w.First+int64(s.record) {
			return
		}
		b.Rejects = append(b.Rejects, r)
	}
}
