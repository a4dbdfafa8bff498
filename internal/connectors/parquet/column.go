package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

const (
	// pageSize is how many bytes of values a page has, about.
	pageSize = 256 << 10
	// retryGroups is after how many row groups a column without a dictionary
	// tries again whether one pays.
	retryGroups = 16
	// trialPages is after how many pages a column tries again which encoding
	// makes the smaller ones.
	trialPages = 64
	// hugeRoom is what the buffer of a huge value has besides it, for levels, a
	// header and the like.
	hugeRoom = 64 << 10
)

// column gathers the cells of one column, page by page, until its row group
// ends.
type column struct {
	element   format.Element
	text      bool // cells may have to be checked to be UTF-8
	value     appendValue
	checked   appendValue
	size      int // of a PLAIN value, 0 where values have lengths of their own
	dict      *dictionary
	useDict   bool
	without   int // row groups since the dictionary was given up, 0 for not
	delta     bool
	trial     int // pages until encodings are compared
	bounds    bounds
	deltas    []int64
	levels    []byte // of the page: 1 for a value, 0 for NULL
	nulls     int    // in the page
	indexes   []uint32
	plain     []byte
	pages     []byte // of the row group, done
	raw       []byte
	huge      bool // the row group has a huge page
	mark      columnMark
	chunk     format.Chunk
	encodings [10]bool
	payload   int64 // bytes of values taken
}

// columnMark is a place in the page that is being filled.
type columnMark struct {
	levels, nulls, indexes, plain int
	payload                       int64
	inDict                        bool
}

func newColumn(f batch.Field, codec format.Codec) *column {
	e := elementOf(f)
	c := &column{element: e, value: valueOf(f.Type, true), checked: valueOf(f.Type, false), text: f.Type.Kind == batch.Text}
	switch e.Type {
	case format.Boolean:
		c.size = 1
	case format.Int32, format.Float:
		c.size = 4
	case format.Int64, format.Double:
		c.size = 8
	case format.Fixed:
		c.size = int(e.Length)
	}
	c.bounds = boundsOf(&e)
	c.chunk = format.Chunk{Type: e.Type, Path: []string{e.Name}, Codec: codec}
	if e.Type != format.Boolean {
		c.dict = newDictionary()
	}
	c.begin()
	return c
}

// begin begins a row group.
func (c *column) begin() {
	c.clearPage()
	c.pages = c.pages[:0]
	if c.huge {
		c.pages, c.huge = nil, false
	}
	c.bounds.reset()
	c.chunk.Values, c.chunk.Uncompressed, c.chunk.Statistics = 0, 0, format.Statistics{}
	c.encodings = [10]bool{}
	c.useDict = c.dict != nil
	if c.without > 0 {
		c.without++
		if c.without <= retryGroups {
			c.useDict = false
		} else {
			c.without = 0
		}
	}
	switch {
	case c.useDict:
		c.dict.reset()
	case c.dict != nil && c.dict.size() > 8*firstSlots:
		c.dict = newDictionary() // lets the memory go until it is tried again
	}
}

func (c *column) clearPage() {
	c.levels, c.indexes, c.plain, c.nulls = c.levels[:0], c.indexes[:0], kept(c.plain), 0
	c.raw = kept(c.raw)
}

// kept empties a buffer of a page, but lets one go that a huge value has made.
func kept(buf []byte) []byte {
	if cap(buf) >= batch.Huge {
		return nil
	}
	return buf[:0]
}

// held is the memory that the row group takes so far.
func (c *column) held() int {
	n := len(c.pages) + len(c.levels) + 4*len(c.indexes) + len(c.plain)
	if c.dict != nil {
		n += c.dict.size()
	}
	return n
}

// add takes the cells of a batch, but those of rows to skip. A cell that
// cannot be held goes to fault, and in its place stands nothing: the batch is
// then taken back and added again without its row.
func (c *column) add(cells *batch.Column, rows int, valid bool, skip []bool, fault func(row int, err error)) {
	c.mark = columnMark{len(c.levels), c.nulls, len(c.indexes), len(c.plain), c.payload, c.useDict}
	appendTo := c.value
	if c.text && !valid {
		appendTo = c.checked
	}
	optional := c.element.Repetition == format.Optional
	for i := range rows {
		if skip != nil && skip[i] {
			continue
		}
		cell := cells.Cell(i)
		switch {
		case cell != nil:
			c.levels = append(c.levels, 1)
			if err := c.addValue(appendTo, cell); err != nil {
				fault(i, err)
			}
		case optional:
			c.levels = append(c.levels, 0)
			c.nulls++
		default:
			fault(i, errNull)
		}
	}
}

func (c *column) addValue(appendTo appendValue, cell []byte) (err error) {
	if c.useDict {
		if len(cell) < maxDictionary/16 {
			entry, at, tag := c.dict.find(cell)
			if entry >= 0 {
				c.indexes = append(c.indexes, uint32(entry))
				c.count(len(cell))
				return nil
			}
			if c.dict.pays(int(c.chunk.Values) + len(c.levels)) {
				if c.dict.values, err = appendTo(c.dict.values, cell); err == nil {
					c.indexes = append(c.indexes, uint32(c.dict.add(cell, at, tag)))
					c.count(len(cell))
				}
				return err
			}
		}
		c.leaveDictionary()
	}
	if len(cell) >= batch.Huge {
		c.plain = batch.Grow(c.plain, len(c.plain)+len(cell)+hugeRoom)
	}
	if c.plain, err = appendTo(c.plain, cell); err == nil {
		c.count(len(cell))
	}
	return err
}

// count counts the bytes of a value; texts and bytes have those of their cell.
func (c *column) count(cell int) {
	if c.size > 0 {
		cell = c.size
	}
	c.payload += int64(cell)
}

// takeBack takes back what the last add has added.
func (c *column) takeBack() {
	m := c.mark
	if m.inDict && !c.useDict {
		// The page has become a plain one meanwhile: it is cut by its values.
		values := m.levels - m.nulls
		m.indexes, m.plain = 0, c.plainLength(values)
	}
	c.levels, c.nulls, c.indexes, c.plain, c.payload = c.levels[:m.levels], m.nulls, c.indexes[:m.indexes], c.plain[:m.plain], m.payload
	if c.useDict {
		c.bounds.loose = true // it may hold values that are no record's
	}
}

// plainLength is the length of the first values of the page.
func (c *column) plainLength(values int) int {
	if c.size > 0 {
		return values * c.size
	}
	at := 0
	for range values {
		at += 4 + int(binary.LittleEndian.Uint32(c.plain[at:]))
	}
	return at
}

// leaveDictionary goes on with plain values, which the page's then become too.
// Pages that are done may keep their indexes.
func (c *column) leaveDictionary() {
	for _, i := range c.indexes {
		c.plain = append(c.plain, c.dict.value(int(i))...)
	}
	c.indexes = c.indexes[:0]
	c.useDict = false
	c.without = 1
}

// full reports whether the page should end.
func (c *column) full() bool {
	return len(c.plain) >= pageSize || 4*len(c.indexes) >= pageSize || len(c.levels) >= pageSize
}

// endPage encodes the page, if it holds anything, and begins the next.
func (c *column) endPage(comp *format.Compressor) error {
	if len(c.levels) == 0 {
		return nil
	}
	c.raw = c.raw[:0]
	if c.element.Repetition == format.Optional {
		c.raw = appendLevels(c.raw, c.levels, c.nulls)
	}
	from, values := len(c.raw), len(c.levels)
	encoding := format.Plain
	switch {
	case c.useDict:
		encoding = format.RLEDictionary
		width := format.WidthOf(uint32(max(c.dict.len()-1, 0)))
		c.raw = append(c.raw, byte(width))
		c.raw = format.AppendRuns(c.raw, c.indexes, width)
	case c.element.Type == format.Boolean:
		c.raw = appendBits(c.raw, c.plain)
	case c.isInteger():
		return c.endIntegers(comp, from)
	case len(c.plain) >= batch.Huge:
		// The levels are put in front of the values, which are not copied.
		c.raw, c.plain = slices.Insert(c.plain, 0, c.raw...), nil
	default:
		c.raw = append(c.raw, c.plain...)
	}
	if !c.useDict {
		c.bounds.add(c.raw[from:])
	}
	var err error
	c.pages, err = c.appendPage(comp, c.pages, encoding, format.DataPage, values)
	c.endedPage(encoding)
	return err
}

func (c *column) endedPage(encoding format.Encoding) {
	c.encodings[encoding] = true
	c.chunk.Values += int64(len(c.levels))
	c.chunk.Statistics.Nulls += int64(c.nulls)
	c.clearPage()
}

func (c *column) isInteger() bool {
	return c.element.Type == format.Int32 || c.element.Type == format.Int64
}

// endIntegers ends a page of whole numbers, as they are or as differences:
// that which has made the smaller page when both were tried.
func (c *column) endIntegers(comp *format.Compressor, from int) error {
	c.bounds.add(c.plain)
	both := c.trial == 0
	if both {
		c.trial = trialPages
	}
	c.trial--
	start, before := len(c.pages), c.chunk.Uncompressed
	encoding := format.Plain
	var err error
	if both || !c.delta {
		c.raw = append(c.raw[:from], c.plain...)
		if c.pages, err = c.appendPage(comp, c.pages, encoding, format.DataPage, len(c.levels)); err != nil {
			return err
		}
	}
	if both || c.delta {
		plain, plainBytes := len(c.pages)-start, c.chunk.Uncompressed
		c.chunk.Uncompressed = before
		c.raw = c.appendDeltas(c.raw[:from])
		if c.pages, err = c.appendPage(comp, c.pages, format.DeltaBinaryPacked, format.DataPage, len(c.levels)); err != nil {
			return err
		}
		differences := len(c.pages) - start - plain
		if both {
			c.delta = differences < plain-plain/8
		}
		if c.delta {
			encoding = format.DeltaBinaryPacked
			c.pages = append(c.pages[:start], c.pages[start+plain:]...)
		} else {
			c.pages, c.chunk.Uncompressed = c.pages[:start+plain], plainBytes
		}
	}
	c.endedPage(encoding)
	return nil
}

func (c *column) appendDeltas(dst []byte) []byte {
	c.deltas = c.deltas[:0]
	if c.size == 4 {
		for i := 0; i < len(c.plain); i += 4 {
			c.deltas = append(c.deltas, int64(int32(binary.LittleEndian.Uint32(c.plain[i:]))))
		}
		return format.AppendDeltas(dst, c.deltas, 32)
	}
	for i := 0; i < len(c.plain); i += 8 {
		c.deltas = append(c.deltas, int64(binary.LittleEndian.Uint64(c.plain[i:])))
	}
	return format.AppendDeltas(dst, c.deltas, 64)
}

// appendPage compresses raw and appends it with its header.
func (c *column) appendPage(comp *format.Compressor, dst []byte, encoding format.Encoding, kind format.PageKind, values int) ([]byte, error) {
	// The header's length depends on what follows it: it is put in front.
	start := len(dst)
	if len(c.raw) >= batch.Huge {
		c.huge = true
		dst = batch.Grow(dst, start+comp.Most(len(c.raw))+hugeRoom)
	}
	dst, err := comp.Compress(dst, c.raw)
	if err != nil {
		return dst, err
	}
	page := dst[start:]
	h := format.PageHeader{
		Kind: kind, Encoding: encoding, Values: int32(values),
		Uncompressed: int32(len(c.raw)), Compressed: int32(len(page)), CRC: crc32.ChecksumIEEE(page),
	}
	var room [64]byte
	head := format.AppendPageHeader(room[:0], &h)
	dst = append(dst, head...)
	copy(dst[start+len(head):], dst[start:len(dst)-len(head)])
	copy(dst[start:], head)
	c.chunk.Uncompressed += int64(len(head) + len(c.raw))
	return dst, nil
}

// finish appends the column's part of the row group, and returns what the
// metadata says of it. Offsets count from origin in dst.
func (c *column) finish(dst []byte, origin int, comp *format.Compressor) ([]byte, format.Chunk, error) {
	if err := c.endPage(comp); err != nil {
		return dst, format.Chunk{}, err
	}
	start := len(dst)
	chunk := c.chunk
	chunk.Dictionary = 0
	if c.encodings[format.RLEDictionary] {
		chunk.Dictionary = int64(start - origin)
		c.encodings[format.Plain] = true
		c.raw = append(c.raw[:0], c.dict.values...)
		var err error
		if dst, err = c.appendPage(comp, dst, format.Plain, format.DictionaryPage, c.dict.len()); err != nil {
			return dst, chunk, err
		}
		chunk.Uncompressed = c.chunk.Uncompressed
		c.bounds.add(c.dict.values)
	}
	chunk.Data = int64(len(dst) - origin)
	dst = append(dst, c.pages...)
	chunk.Compressed = int64(len(dst) - start)
	chunk.Statistics.Min, chunk.Statistics.Max = c.bounds.minmax()
	chunk.Encodings = nil
	for encoding, used := range c.encodings {
		if used {
			chunk.Encodings = append(chunk.Encodings, format.Encoding(encoding))
		}
	}
	if c.element.Repetition == format.Optional && !c.encodings[format.RLE] {
		chunk.Encodings = append(chunk.Encodings, format.RLE)
	}
	return dst, chunk, nil
}

// appendLevels appends the levels of a page, with their length before them:
// one run where there is no NULL, else a bit each.
func appendLevels(dst, levels []byte, nulls int) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if nulls == 0 || nulls == len(levels) {
		dst = binary.AppendUvarint(dst, uint64(len(levels))<<1)
		dst = append(dst, levels[0])
	} else {
		dst = binary.AppendUvarint(dst, uint64(len(levels)+7)/8<<1|1)
		dst = appendBits(dst, levels)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// appendBits packs bytes of 0 and 1, the first into the lowest bit.
func appendBits(dst, bools []byte) []byte {
	for len(bools) >= 8 {
		// A multiplication gathers the bytes' lowest bits in the highest byte.
		v := binary.LittleEndian.Uint64(bools)
		dst = append(dst, byte(v*0x0102040810204080>>56))
		bools = bools[8:]
	}
	if len(bools) > 0 {
		var last byte
		for i, b := range bools {
			last |= b << i
		}
		dst = append(dst, last)
	}
	return dst
}
