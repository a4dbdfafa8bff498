package batch

// Span is a cell's place in its column's data. Len -1 is NULL.
type Span struct {
	Off uint32
	Len int32
}

// NullSpan returns the span of a NULL cell.
func NullSpan() Span { return Span{Len: -1} }

// Column finds the cells of one field: cell i is the span at
// Spans[First+i*Stride], a range of Data. Stride 0 makes a constant.
// Data is never nil, so that an empty cell is never nil.
type Column struct {
	Data   []byte
	Spans  []Span
	First  int
	Stride int
}

// Cell returns the bytes of row i: nil for NULL, empty but not nil for the
// empty value. They belong to the batch and must not be changed or kept.
func (c *Column) Cell(i int) []byte {
	s := c.Spans[c.First+i*c.Stride]
	if s.Len < 0 {
		return nil
	}
	end := s.Off + uint32(s.Len)
	return c.Data[s.Off:end:end]
}

// IsNull reports whether row i is NULL.
func (c *Column) IsNull(i int) bool { return c.Spans[c.First+i*c.Stride].Len < 0 }
