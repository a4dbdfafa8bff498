package format

// PageKind is what a page holds.
type PageKind int32

// The kinds of pages.
const (
	DataPage       PageKind = 0
	IndexPage      PageKind = 1
	DictionaryPage PageKind = 2
	DataPageV2     PageKind = 3
)

// PageHeader stands before each page.
type PageHeader struct {
	Kind PageKind
	// Uncompressed and Compressed are the page's sizes, without the header.
	Uncompressed, Compressed int32
	// CRC is the checksum of the page as stored, if HasCRC.
	CRC    uint32
	HasCRC bool
	// Values counts NULLs too, but for a dictionary's.
	Values   int32
	Encoding Encoding
	// DefinitionEncoding and RepetitionEncoding are those of the levels in
	// the first kind of data page.
	DefinitionEncoding, RepetitionEncoding Encoding
	// Nulls, Rows and the lengths of the levels are of the second kind of
	// data page, whose levels are never compressed.
	Nulls, Rows                        int32
	DefinitionLength, RepetitionLength int32
	Stored                             bool // its values are not compressed
}

// ParsePageHeader reads a header at the start of data and returns its length,
// or more when data does not hold all of it.
func ParsePageHeader(data []byte) (h PageHeader, n int, err error) {
	d := &decoder{data: data}
	seen, body := 0, false
	d.fields(func(id int, w wire) bool {
		switch {
		case id == 1 && w == wireInt32:
			h.Kind = PageKind(d.int32())
		case id == 2 && w == wireInt32:
			h.Uncompressed = d.int32()
		case id == 3 && w == wireInt32:
			h.Compressed = d.int32()
		case id == 4 && w == wireInt32:
			h.CRC, h.HasCRC = uint32(d.int32()), true
		case id == 5 && w == wireStruct && h.Kind == DataPage, id == 7 && w == wireStruct && h.Kind == DictionaryPage:
			d.pageBody(&h)
			body = true
		case id == 8 && w == wireStruct && h.Kind == DataPageV2:
			d.pageBodyV2(&h)
			body = true
		default:
			return false
		}
		seen |= 1 << id
		return true
	})
	switch {
	case d.err != nil:
	case seen&14 != 14:
		d.fail("a page header lacks a field")
	case !body && h.Kind != IndexPage:
		d.fail("a page header does not say what the page holds")
	case h.Compressed < 0 || h.Uncompressed < 0 || h.Values < 0 || h.DefinitionLength < 0 || h.RepetitionLength < 0:
		d.fail("a page header holds a negative length")
	}
	return h, d.pos, d.err
}

func (d *decoder) pageBody(h *PageHeader) {
	d.fields(func(id int, w wire) bool {
		if w != wireInt32 {
			return false
		}
		switch id {
		case 1:
			h.Values = d.int32()
		case 2:
			h.Encoding = Encoding(d.int32())
		case 3:
			h.DefinitionEncoding = Encoding(d.int32())
		case 4:
			h.RepetitionEncoding = Encoding(d.int32())
		default:
			return false
		}
		return true
	})
}

func (d *decoder) pageBodyV2(h *PageHeader) {
	d.fields(func(id int, w wire) bool {
		if id == 7 && w == wireFalse {
			h.Stored = true
			return true
		}
		if w != wireInt32 {
			return false
		}
		switch id {
		case 1:
			h.Values = d.int32()
		case 2:
			h.Nulls = d.int32()
		case 3:
			h.Rows = d.int32()
		case 4:
			h.Encoding = Encoding(d.int32())
		case 5:
			h.DefinitionLength = d.int32()
		case 6:
			h.RepetitionLength = d.int32()
		default:
			return false
		}
		return true
	})
}

// AppendPageHeader appends a header of the first kind of data page, or of a
// dictionary's.
func AppendPageHeader(dst []byte, h *PageHeader) []byte {
	var open [4]int
	e := encoder{dst: dst, last: open[:0]}
	e.begin()
	e.int32(1, int32(h.Kind))
	e.int32(2, h.Uncompressed)
	e.int32(3, h.Compressed)
	e.int32(4, int32(h.CRC))
	if h.Kind == DictionaryPage {
		e.structure(7)
	} else {
		e.structure(5)
	}
	e.int32(1, h.Values)
	e.int32(2, int32(h.Encoding))
	if h.Kind == DataPage {
		e.int32(3, int32(RLE))
		e.int32(4, int32(RLE))
	}
	e.end()
	e.end()
	return e.dst
}
