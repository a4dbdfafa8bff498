package format

import "fmt"

// ParseFooter reads a file's metadata.
func ParseFooter(data []byte) (*Footer, error) {
	d := &decoder{data: data}
	f := &Footer{}
	seen := 0
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 2 && w == wireList:
			decodeList(d, &f.Schema, d.element)
		case id == 3 && w == wireInt64:
			f.Rows = d.int64()
		case id == 4 && w == wireList:
			decodeList(d, &f.Groups, d.rowGroup)
		case id == 6 && w == wireBinary:
			f.CreatedBy = d.string()
		case id == 8:
			f.Encrypted = true
			return false
		default:
			return false
		}
		seen |= 1 << id
		return true
	})
	const needed = 1<<2 | 1<<3 | 1<<4
	if seen&needed != needed {
		d.fail("it lacks a field")
	}
	if d.err != nil {
		return nil, d.err
	}
	return f, f.check()
}

// check finds what no file has.
func (f *Footer) check() error {
	var rows int64
	for i := range f.Groups {
		g := &f.Groups[i]
		if g.Rows < 0 || rows+g.Rows < rows {
			return fmt.Errorf("%w: row group %d has %d rows", errThrift, i, g.Rows)
		}
		rows += g.Rows
	}
	if rows != f.Rows {
		return fmt.Errorf("%w: it tells of %d rows, and its row groups of %d", errThrift, f.Rows, rows)
	}
	return nil
}

// ParseRowGroup reads the metadata of a row group at the start of data.
func ParseRowGroup(data []byte) (RowGroup, error) {
	d := &decoder{data: data}
	var g RowGroup
	d.rowGroup(&g)
	return g, d.err
}

// decodeList appends a list's elements as they are read: its claimed length
// makes no room.
func decodeList[T any](d *decoder, to *[]T, read func(*T)) {
	n, _ := d.list()
	for i := 0; i < n && d.err == nil; i++ {
		var v T
		read(&v)
		*to = append(*to, v)
	}
}

func (d *decoder) element(e *Element) {
	e.Type = NoType
	converted, scale, precision := int32(-1), int32(0), int32(0)
	named := false
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 1 && w == wireInt32:
			e.Type = Type(d.int32())
		case id == 2 && w == wireInt32:
			e.Length = d.int32()
		case id == 3 && w == wireInt32:
			e.Repetition = Repetition(d.int32())
		case id == 4 && w == wireBinary:
			e.Name, named = d.string(), true
		case id == 5 && w == wireInt32:
			e.Children = d.int32()
		case id == 6 && w == wireInt32:
			converted = d.int32()
		case id == 7 && w == wireInt32:
			scale = d.int32()
		case id == 8 && w == wireInt32:
			precision = d.int32()
		case id == 10 && w == wireStruct:
			d.logical(&e.Logical)
		default:
			return false
		}
		return true
	})
	if !named {
		d.fail("a column has no name")
	}
	if e.Logical.Kind == Bare || e.Logical.Kind == Other {
		if l, ok := fromConverted(converted, precision, scale); ok {
			e.Logical = l
		}
	}
}

// logical reads the union LogicalType.
func (d *decoder) logical(l *Logical) {
	d.fields(func(id int, w wire) bool {
		if w != wireStruct {
			return false
		}
		l.Kind = LogicalKind(id)
		switch l.Kind {
		case Decimal:
			d.fields(func(id int, w wire) bool {
				switch {
				case id == 1 && w == wireInt32:
					l.Scale = d.int32()
				case id == 2 && w == wireInt32:
					l.Precision = d.int32()
				default:
					return false
				}
				return true
			})
		case Time, Timestamp:
			d.time(l)
		case Integer:
			d.fields(func(id int, w wire) bool {
				switch {
				case id == 1 && w == wireByte:
					l.Bits = int8(d.byte())
				case id == 2 && (w == wireTrue || w == wireFalse):
					l.Signed = w == wireTrue
				default:
					return false
				}
				return true
			})
		case String, Map, List, Enum, Date, Unknown, JSON, BSON, UUID, Float16:
			return false
		default:
			l.Kind = Other
			return false
		}
		return true
	})
}

func (d *decoder) time(l *Logical) {
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 1 && (w == wireTrue || w == wireFalse):
			l.UTC = w == wireTrue
			return true
		case id == 2 && w == wireStruct:
			d.fields(func(id int, _ wire) bool {
				l.Unit = Unit(id)
				return false
			})
			return true
		}
		return false
	})
}

// fromConverted returns the logical type of an older file's ConvertedType.
func fromConverted(c, precision, scale int32) (Logical, bool) {
	switch {
	case c >= 11 && c <= 18: // UINT_8 to UINT_64, INT_8 to INT_64
		return Logical{Kind: Integer, Bits: 8 << ((c - 11) % 4), Signed: c >= 15}, true
	}
	kinds := map[int32]Logical{
		0: {Kind: String}, 1: {Kind: Map}, 2: {Kind: Map}, 3: {Kind: List}, 4: {Kind: Enum},
		5: {Kind: Decimal, Precision: precision, Scale: scale}, 6: {Kind: Date},
		7: {Kind: Time, UTC: true, Unit: Millis}, 8: {Kind: Time, UTC: true, Unit: Micros},
		9: {Kind: Timestamp, UTC: true, Unit: Millis}, 10: {Kind: Timestamp, UTC: true, Unit: Micros},
		19: {Kind: JSON}, 20: {Kind: BSON}, 21: {Kind: Interval},
	}
	l, ok := kinds[c]
	return l, ok
}

func (d *decoder) rowGroup(g *RowGroup) {
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 1 && w == wireList:
			decodeList(d, &g.Chunks, d.chunk)
		case id == 2 && w == wireInt64:
			g.Bytes = d.int64()
		case id == 3 && w == wireInt64:
			g.Rows = d.int64()
		default:
			return false
		}
		return true
	})
}

func (d *decoder) chunk(c *Chunk) {
	there := false
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 1 && w == wireBinary:
			c.Elsewhere = len(d.bytes()) > 0
		case id == 3 && w == wireStruct:
			there = true
			d.chunkData(c)
		case id == 8, id == 9:
			c.Encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	if !there && !c.Encrypted {
		d.fail("a column of a row group has no metadata")
	}
}

func (d *decoder) chunkData(c *Chunk) {
	seen := 0
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 1 && w == wireInt32:
			c.Type = Type(d.int32())
		case id == 2 && w == wireList:
			decodeList(d, &c.Encodings, func(e *Encoding) { *e = Encoding(d.int32()) })
		case id == 3 && w == wireList:
			decodeList(d, &c.Path, func(s *string) { *s = d.string() })
		case id == 4 && w == wireInt32:
			c.Codec = Codec(d.int32())
		case id == 5 && w == wireInt64:
			c.Values = d.int64()
		case id == 6 && w == wireInt64:
			c.Uncompressed = d.int64()
		case id == 7 && w == wireInt64:
			c.Compressed = d.int64()
		case id == 9 && w == wireInt64:
			c.Data = d.int64()
		case id == 11 && w == wireInt64:
			c.Dictionary = d.int64()
		case id == 12 && w == wireStruct:
			d.statistics(&c.Statistics)
			return true
		default:
			return false
		}
		seen |= 1 << id
		return true
	})
	const needed = 1<<1 | 1<<4 | 1<<5 | 1<<7 | 1<<9
	if seen&needed != needed {
		d.fail("the metadata of a column lacks a field")
	}
}

func (d *decoder) statistics(s *Statistics) {
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 3 && w == wireInt64:
			s.Nulls = d.int64()
		case id == 5 && w == wireBinary:
			s.Max = d.bytes()
		case id == 6 && w == wireBinary:
			s.Min = d.bytes()
		default:
			return false
		}
		return true
	})
}
