package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// windowSize is how many values of a column are decoded at once, at most:
// windowCells of all columns together, but never less than fewest.
const (
	windowSize  = 1024
	windowCells = 256 << 10
	fewest      = 64
)

// windowOf returns the window's size where so many columns are read.
func windowOf(columns int) int { return min(max(windowCells/max(1, columns), fewest), windowSize) }

// faulty is the length of a span that stands for a value at fault.
const faulty = -2

// chunk reads the values of a leaf in one row group: as texts, a window of
// them at a time. Its memory serves one row group after another.
type chunk struct {
	leaf *node
	kind batch.Kind
	size int // of the window
	in   chunkInput
	dec  *format.Decompressor
	meta *format.Chunk
	seen int64 // values of pages begun, NULLs too

	page   []byte // decompressed
	left   int    // values of the page that are not in a window
	defs   format.Runs
	reps   format.Runs
	values values

	w window
}

// window holds values that are decoded and not taken.
type window struct {
	n, pos int
	// defs and reps are the values' levels; nil where there are none.
	defs, reps []uint32
	// spans are the texts, in data; NULL where the level says so.
	spans []batch.Span
	data  []byte
	// ordered says that the texts follow one another in data.
	ordered bool
	// longest is the length of the longest text.
	longest int
	faults  map[int]error
}

// open begins a row group's chunk, which stands in a file of that size.
func (c *chunk) open(file io.ReaderAt, size int64, meta *format.Chunk, readSize int) error {
	start := meta.Start()
	switch {
	case meta.Encrypted:
		return errors.New("is encrypted, which is not supported")
	case meta.Elsewhere:
		return errors.New("is in another file, which is not supported")
	case meta.Type != c.leaf.Type:
		return errors.New("is of another type in a row group than in the schema")
	case start < int64(len(format.Magic)) || meta.Compressed < 0 || start > size || meta.Compressed > size-start || meta.Values < 0:
		return errors.New("lies outside of the file")
	}
	c.meta, c.seen, c.left = meta, 0, 0
	c.in.reset(file, start, start+meta.Compressed, readSize)
	c.values.reset(&c.leaf.Element)
	c.w.n, c.w.pos = 0, 0
	return nil
}

// done proves that the chunk has given all its values.
func (c *chunk) done() error {
	if c.w.pos < c.w.n || c.left > 0 || c.seen != c.meta.Values {
		return fmt.Errorf("has more or fewer values than its row group's %d", c.meta.Values)
	}
	return nil
}

// fill makes sure that the window holds a value.
func (c *chunk) fill() error {
	if c.w.pos < c.w.n {
		return nil
	}
	for c.left == 0 {
		if c.seen >= c.meta.Values {
			return fmt.Errorf("ends after %d values, before its row group does", c.seen)
		}
		if err := c.nextPage(); err != nil {
			return err
		}
	}
	return c.decode()
}

// nextPage takes a page: a dictionary is kept, data are readied.
func (c *chunk) nextPage() error {
	if c.in.left() == 0 {
		return fmt.Errorf("ends after %d of %d values", c.seen, c.meta.Values)
	}
	h, err := c.in.header()
	if err != nil {
		return err
	}
	body, err := c.in.peek(int(h.Compressed))
	if err != nil {
		return err
	}
	if h.HasCRC && crc32.ChecksumIEEE(body) != h.CRC {
		return fmt.Errorf("is broken: the checksum of a page of %d bytes is wrong", h.Compressed)
	}
	switch h.Kind {
	case format.DictionaryPage:
		err = c.dictionary(&h, body)
	case format.DataPage:
		err = c.dataPage(&h, body)
	case format.DataPageV2:
		err = c.dataPageV2(&h, body)
	}
	c.in.skip(int(h.Compressed))
	return err
}

// letGo lets the memory of a huge page go once its values are decoded. Those
// that are not taken are copied, unless they are huge too.
func (c *chunk) letGo() {
	v := &c.values
	if max(cap(c.page), cap(v.text)) < batch.Huge || c.left > 0 || !c.w.compact() {
		return
	}
	c.page, c.defs, c.reps = nil, format.Runs{}, format.Runs{}
	v.data, v.text, v.last, v.runs, v.deltas, v.prefixes = nil, nil, nil, format.Runs{}, format.Deltas{}, format.Deltas{}
}

// compact copies the texts that are not taken to memory of their own, and
// reports whether it has: huge ones stay where they are.
func (w *window) compact() bool {
	rest, size := w.spans[w.pos:w.n], 0
	for _, s := range rest {
		size += int(max(s.Len, 0))
	}
	if size >= batch.Huge {
		return false
	}
	data := make([]byte, 0, size)
	for i, s := range rest {
		if s.Len >= 0 {
			rest[i].Off = uint32(len(data))
			data = append(data, w.data[s.Off:s.Off+uint32(s.Len)]...)
		}
	}
	w.data = data
	return true
}

func (c *chunk) dictionary(h *format.PageHeader, body []byte) error {
	if h.Encoding != format.Plain && h.Encoding != format.PlainDictionary {
		return fmt.Errorf("has a dictionary in encoding %d, which is not supported", h.Encoding)
	}
	page, err := c.dec.Decompress(c.meta.Codec, c.page, body, int(h.Uncompressed))
	if err != nil {
		return err
	}
	c.page = page
	return c.values.setDictionary(page, int(h.Values))
}

func (c *chunk) begin(h *format.PageHeader, from int) error {
	c.left = int(h.Values)
	c.seen += int64(h.Values)
	if c.seen > c.meta.Values {
		return fmt.Errorf("has more than its %d values", c.meta.Values)
	}
	return c.values.begin(h.Encoding, c.page[from:])
}

func (c *chunk) dataPage(h *format.PageHeader, body []byte) error {
	page, err := c.dec.Decompress(c.meta.Codec, c.page, body, int(h.Uncompressed))
	if err != nil {
		return err
	}
	c.page = page
	from := 0
	for _, l := range []struct {
		highest  int
		encoding format.Encoding
		runs     *format.Runs
	}{{c.leaf.rep, h.RepetitionEncoding, &c.reps}, {c.leaf.def, h.DefinitionEncoding, &c.defs}} {
		if l.highest == 0 {
			continue
		}
		if l.encoding != format.RLE {
			return fmt.Errorf("has levels in encoding %d, which is not supported", l.encoding)
		}
		runs, err := lengthPrefixed(page[from:])
		if err != nil {
			return err
		}
		if err := l.runs.Reset(runs, format.WidthOf(uint32(l.highest))); err != nil {
			return err
		}
		from += 4 + len(runs)
	}
	return c.begin(h, from)
}

func (c *chunk) dataPageV2(h *format.PageHeader, body []byte) error {
	reps, defs := int(h.RepetitionLength), int(h.DefinitionLength)
	if reps > len(body) || defs > len(body)-reps || reps+defs > int(h.Uncompressed) {
		return errors.New("has a page that is shorter than its levels")
	}
	if err := c.reps.Reset(append([]byte(nil), body[:reps]...), format.WidthOf(uint32(c.leaf.rep))); err != nil {
		return err
	}
	if err := c.defs.Reset(append([]byte(nil), body[reps:reps+defs]...), format.WidthOf(uint32(c.leaf.def))); err != nil {
		return err
	}
	codec := c.meta.Codec
	if h.Stored {
		codec = format.Uncompressed
	}
	var err error
	if size := int(h.Uncompressed) - reps - defs; size == 0 {
		c.page = c.page[:0]
	} else if c.page, err = c.dec.Decompress(codec, c.page, body[reps+defs:], size); err != nil {
		return err
	}
	return c.begin(h, 0)
}

// decode decodes the next window.
func (c *chunk) decode() error {
	w := &c.w
	n := min(c.left, c.size, c.values.most())
	w.n, w.pos, w.longest = n, 0, 0
	clear(w.faults)
	if cap(w.spans) < n {
		w.spans = make([]batch.Span, c.size)
		w.defs, w.reps = make([]uint32, c.size), make([]uint32, c.size)
	}
	w.spans, w.defs, w.reps = w.spans[:n], w.defs[:n], w.reps[:n]
	c.left -= n
	there := n
	if c.leaf.rep > 0 {
		if err := c.levels(&c.reps, w.reps, c.leaf.rep); err != nil {
			return err
		}
	}
	if c.leaf.def > 0 {
		if err := c.levels(&c.defs, w.defs, c.leaf.def); err != nil {
			return err
		}
		there = 0
		for _, d := range w.defs {
			if int(d) == c.leaf.def {
				there++
			}
		}
	}
	if err := c.values.read(w, there); err != nil {
		return err
	}
	if there < n {
		w.spread(c.leaf.def, there)
	}
	return nil
}

func (c *chunk) levels(runs *format.Runs, to []uint32, highest int) error {
	if err := runs.Read(to); err != nil {
		return err
	}
	for _, l := range to {
		if int(l) > highest {
			return fmt.Errorf("has a level %d, above %d", l, highest)
		}
	}
	return nil
}

// spread moves the spans of the values that are there to their places among
// the NULLs.
func (w *window) spread(def, there int) {
	from := there - 1
	moved := map[int]error(nil)
	for i := w.n - 1; i >= 0; i-- {
		if int(w.defs[i]) != def {
			w.spans[i] = batch.NullSpan()
			continue
		}
		w.spans[i] = w.spans[from]
		if w.spans[i].Len == faulty {
			if moved == nil {
				moved = map[int]error{}
			}
			moved[i] = w.faults[from]
		}
		from--
	}
	w.faults = moved
}

// fault notes that a value cannot be told.
func (w *window) fault(i int, err error) {
	if w.faults == nil {
		w.faults = map[int]error{}
	}
	w.faults[i] = err
	w.spans[i] = batch.Span{Len: faulty}
}
