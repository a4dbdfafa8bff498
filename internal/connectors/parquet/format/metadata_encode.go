package format

// AppendFooter appends a file's metadata, without what follows it.
func AppendFooter(dst []byte, f *Footer) []byte {
	e := &encoder{dst: dst}
	e.begin()
	e.int32(1, 2) // the version
	e.list(2, len(f.Schema), wireStruct)
	for i := range f.Schema {
		e.schemaElement(&f.Schema[i])
	}
	e.int64(3, f.Rows)
	e.list(4, len(f.Groups), wireStruct)
	for i := range f.Groups {
		e.rowGroup(&f.Groups[i])
	}
	e.string(6, f.CreatedBy)
	leaves := 0
	for i := range f.Schema {
		if f.Schema[i].Type != NoType {
			leaves++
		}
	}
	e.list(7, leaves, wireStruct)
	for range leaves {
		e.begin()
		e.empty(1) // bounds are in the order of the column's type
		e.end()
	}
	e.end()
	return e.dst
}

// AppendRowGroup appends the metadata of a row group.
func AppendRowGroup(dst []byte, g *RowGroup) []byte {
	e := &encoder{dst: dst}
	e.rowGroup(g)
	return e.dst
}

func (e *encoder) schemaElement(s *Element) {
	e.begin()
	if s.Type != NoType {
		e.int32(1, int32(s.Type))
	}
	if s.Type == Fixed {
		e.int32(2, s.Length)
	}
	if s.Children == 0 {
		e.int32(3, int32(s.Repetition))
	}
	e.string(4, s.Name)
	if s.Children > 0 || s.Type == NoType {
		e.int32(5, s.Children)
	}
	if c, ok := s.Logical.converted(); ok {
		e.int32(6, c)
	}
	if s.Logical.Kind == Decimal {
		e.int32(7, s.Logical.Scale)
		e.int32(8, s.Logical.Precision)
	}
	if k := s.Logical.Kind; k != Bare && k != Interval {
		e.structure(10)
		e.logical(&s.Logical)
		e.end()
	}
	e.end()
}

func (e *encoder) logical(l *Logical) {
	e.structure(int(l.Kind))
	switch l.Kind {
	case Decimal:
		e.int32(1, l.Scale)
		e.int32(2, l.Precision)
	case Time, Timestamp:
		e.bool(1, l.UTC)
		e.structure(2)
		e.empty(int(l.Unit))
		e.end()
	case Integer:
		e.byte(1, byte(l.Bits))
		e.bool(2, l.Signed)
	}
	e.end()
}

// converted returns the older type that readers may know instead.
func (l *Logical) converted() (int32, bool) {
	switch l.Kind {
	case String:
		return 0, true
	case Enum:
		return 4, true
	case Decimal:
		return 5, true
	case Date:
		return 6, true
	case Time, Timestamp:
		if l.Unit == Nanos || !l.UTC {
			return 0, false
		}
		c := int32(6 + l.Unit)
		if l.Kind == Timestamp {
			c += 2
		}
		return c, true
	case Integer:
		c := int32(11)
		for bits := l.Bits; bits > 8; bits /= 2 {
			c++
		}
		if l.Signed {
			c += 4
		}
		return c, true
	case JSON:
		return 19, true
	case BSON:
		return 20, true
	case Interval:
		return 21, true
	}
	return 0, false
}

func (e *encoder) rowGroup(g *RowGroup) {
	e.begin()
	e.list(1, len(g.Chunks), wireStruct)
	for i := range g.Chunks {
		e.chunk(&g.Chunks[i])
	}
	e.int64(2, g.Bytes)
	e.int64(3, g.Rows)
	if len(g.Chunks) > 0 {
		e.int64(5, g.Chunks[0].Start())
	}
	e.int64(6, g.Compressed())
	e.end()
}

func (e *encoder) chunk(c *Chunk) {
	e.begin()
	e.int64(2, 0) // metadata stands nowhere but here
	e.structure(3)
	e.int32(1, int32(c.Type))
	e.list(2, len(c.Encodings), wireInt32)
	for _, encoding := range c.Encodings {
		e.varint(int64(encoding))
	}
	e.list(3, len(c.Path), wireBinary)
	for _, name := range c.Path {
		e.element(name)
	}
	e.int32(4, int32(c.Codec))
	e.int64(5, c.Values)
	e.int64(6, c.Uncompressed)
	e.int64(7, c.Compressed)
	e.int64(9, c.Data)
	if c.Dictionary > 0 {
		e.int64(11, c.Dictionary)
	}
	e.structure(12)
	e.int64(3, c.Statistics.Nulls)
	if c.Statistics.Min != nil {
		e.bytes(5, c.Statistics.Max)
		e.bytes(6, c.Statistics.Min)
	}
	e.end()
	e.end()
	e.end()
}
