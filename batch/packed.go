package batch

// Packing reads the rows of packed batches, whose rows are not cells but texts
// of their source's own system, each whole: a sink of the same system takes
// them as they are. It is immutable.
type Packing interface {
	// Cells returns the canonical texts of a row's cells; nil is NULL.
	Cells(row []byte) [][]byte
}

// AppendPacked adds a row of a packed batch, copying its bytes.
func (b *Batch) AppendPacked(row []byte) {
	b.Spans = append(b.Spans, Span{Off: uint32(len(b.Buf)), Len: int32(len(row))})
	b.Buf = append(b.Buf, row...)
}

// SealPacked makes the batch one of packed rows: it has no Columns then.
func (b *Batch) SealPacked(p Packing) {
	b.Packing = p
	b.Rows = len(b.Spans)
	b.Read = int64(b.Rows)
}

// PackedRow returns row i of a packed batch. It belongs to the batch.
func (b *Batch) PackedRow(i int) []byte {
	s := b.Spans[i]
	end := s.Off + uint32(s.Len)
	return b.Buf[s.Off:end:end]
}
