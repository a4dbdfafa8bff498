package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

var errValues = errors.New("has a page that ends before its values do")

// values reads the values of pages, of whatever type and encoding, as texts.
type values struct {
	element   *format.Element
	size      int // of a PLAIN value, 0 where each has its own length
	ofInteger textOfInteger
	ofBytes   textOfBytes // nil where bytes are their own text
	checked   bool        // they are, once found to be UTF-8

	encoding format.Encoding
	data     []byte
	pos      int
	runs     format.Runs
	deltas   format.Deltas // lengths of texts too
	prefixes format.Deltas
	last     []byte // text before, of DELTA_BYTE_ARRAY
	stride   int    // values of a page of BYTE_STREAM_SPLIT

	dict     entries
	indexes  []uint32
	integers []int64
	text     []byte
	scratch  []byte
}

// entries are a dictionary's values as texts.
type entries struct {
	there  bool
	spans  []batch.Span
	data   []byte
	faults map[int]error
}

func newValues(e *format.Element) values {
	v := values{element: e}
	switch e.Type {
	case format.Boolean, format.Int32, format.Int64, format.Float, format.Double:
		v.ofInteger = integerText(e)
	default:
		v.ofBytes, v.checked = bytesText(e), isChecked(e)
	}
	switch e.Type {
	case format.Int32, format.Float:
		v.size = 4
	case format.Int64, format.Double:
		v.size = 8
	case format.Int96:
		v.size = 12
	case format.Fixed:
		v.size = int(e.Length)
	}
	return v
}

// reset begins a row group.
func (v *values) reset(e *format.Element) {
	v.element = e
	v.dict.there = false
}

// begin begins a page's values.
func (v *values) begin(encoding format.Encoding, data []byte) error {
	v.encoding, v.data, v.pos = encoding, data, 0
	t := v.element.Type
	switch encoding {
	case format.Plain:
		return nil
	case format.PlainDictionary, format.RLEDictionary:
		v.encoding = format.RLEDictionary
		if !v.dict.there {
			return errors.New("has indexes and no dictionary before them")
		}
		if len(data) == 0 {
			return v.runs.Reset(nil, 0)
		}
		return v.runs.Reset(data[1:], int(data[0]))
	case format.RLE:
		if t == format.Boolean {
			runs, err := lengthPrefixed(data)
			if err != nil {
				return err
			}
			return v.runs.Reset(runs, 1)
		}
	case format.DeltaBinaryPacked:
		if t == format.Int32 || t == format.Int64 {
			return v.deltas.Reset(data)
		}
	case format.DeltaLengthByteArray:
		if t == format.ByteArray {
			return v.beginLengths(data)
		}
	case format.DeltaByteArray:
		if t == format.ByteArray || t == format.Fixed {
			end, err := endOfDeltas(data)
			if err != nil {
				return err
			}
			v.last = v.last[:0]
			return errors.Join(v.prefixes.Reset(data), v.beginLengths(data[end:]))
		}
	case format.ByteStreamSplit:
		if v.size > 0 && t != format.Int96 {
			v.stride = len(data) / v.size
			return nil
		}
	}
	return fmt.Errorf("has values in encoding %d, which is not supported for them", encoding)
}

func lengthPrefixed(data []byte) ([]byte, error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, errValues
	}
	return data[4 : 4+binary.LittleEndian.Uint32(data)], nil
}

// beginLengths begins texts whose lengths stand before all of them.
func (v *values) beginLengths(data []byte) error {
	end, err := endOfDeltas(data)
	if err != nil {
		return err
	}
	v.data, v.pos = data, end
	return v.deltas.Reset(data)
}

// endOfDeltas finds what stands behind differences.
func endOfDeltas(data []byte) (int, error) {
	var d format.Deltas
	if err := d.Reset(data); err != nil {
		return 0, err
	}
	var skipped [256]int64
	for d.Left() > 0 {
		if err := d.Read(skipped[:min(len(skipped), d.Left())]); err != nil {
			return 0, err
		}
	}
	return d.End(), nil
}

// most bounds the next window where one text may be long because the one
// before it was.
func (v *values) most() int {
	if v.encoding != format.DeltaByteArray {
		return windowSize
	}
	return max(1, batch.MaxBytes/(len(v.last)+batch.MaxBytes/windowSize))
}

// read decodes n values into the window.
func (v *values) read(w *window, n int) error {
	v.text = v.text[:0]
	w.data, w.ordered = v.text, true
	if n == 0 {
		return nil
	}
	if v.encoding == format.RLEDictionary {
		return v.readIndexes(w, n)
	}
	if v.ofInteger != nil {
		if err := v.readIntegers(n); err != nil {
			return err
		}
		v.tellIntegers(w)
		return nil
	}
	return v.readBytes(w, n)
}

// tellIntegers makes texts of the whole numbers that were read.
func (v *values) tellIntegers(w *window) {
	for i, x := range v.integers {
		from := len(v.text)
		text, err := v.ofInteger(v.text, x)
		if err != nil {
			v.text = text[:from]
			w.fault(i, err)
			continue
		}
		v.text = text
		w.spans[i] = batch.Span{Off: uint32(from), Len: int32(len(text) - from)}
		w.longest = max(w.longest, len(text)-from)
	}
	w.data = v.text
}

func (v *values) readIntegers(n int) error {
	if cap(v.integers) < n {
		v.integers = make([]int64, n)
	}
	v.integers = v.integers[:n]
	switch v.encoding {
	case format.DeltaBinaryPacked:
		if err := v.deltas.Read(v.integers); err != nil {
			return err
		}
		if v.size == 4 {
			for i, x := range v.integers {
				v.integers[i] = int64(int32(x))
			}
		}
		return nil
	case format.RLE:
		return v.readBits(n)
	case format.ByteStreamSplit:
		return v.readStreams(n)
	}
	return v.readPlain(n)
}

func (v *values) readBits(n int) error {
	v.growIndexes(n)
	if err := v.runs.Read(v.indexes); err != nil {
		return err
	}
	for i, x := range v.indexes {
		v.integers[i] = int64(x)
	}
	return nil
}

func (v *values) growIndexes(n int) {
	if cap(v.indexes) < n {
		v.indexes = make([]uint32, n)
	}
	v.indexes = v.indexes[:n]
}

func (v *values) readPlain(n int) error {
	if v.element.Type == format.Boolean {
		if v.pos+n > 8*len(v.data) {
			return errValues
		}
		for i := range v.integers {
			v.integers[i] = int64(v.data[v.pos/8] >> (v.pos % 8) & 1)
			v.pos++
		}
		return nil
	}
	if n*v.size > len(v.data)-v.pos {
		return errValues
	}
	data := v.data[v.pos:]
	if v.size == 4 {
		for i := range v.integers {
			v.integers[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
	} else {
		for i := range v.integers {
			v.integers[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
	v.pos += n * v.size
	return nil
}

// readStreams gathers values whose first bytes stand together, then their
// second ones, and so on. pos counts values.
func (v *values) readStreams(n int) error {
	if v.pos+n > v.stride {
		return errValues
	}
	for i := range v.integers {
		x := uint64(0)
		for k := range v.size {
			x |= uint64(v.data[k*v.stride+v.pos]) << (8 * k)
		}
		if v.size == 4 {
			x = uint64(int64(int32(x)))
		}
		v.integers[i] = int64(x)
		v.pos++
	}
	return nil
}

func (v *values) readIndexes(w *window, n int) error {
	v.growIndexes(n)
	if err := v.runs.Read(v.indexes); err != nil {
		return err
	}
	w.data = v.dict.data
	w.ordered = false
	for i, x := range v.indexes {
		if int(x) >= len(v.dict.spans) {
			return fmt.Errorf("has index %d into a dictionary of %d values", x, len(v.dict.spans))
		}
		s := v.dict.spans[x]
		w.spans[i] = s
		if s.Len < 0 {
			w.fault(i, v.dict.faults[int(x)])
			continue
		}
		w.longest = max(w.longest, int(s.Len))
	}
	return nil
}

// setDictionary reads a dictionary's values.
func (v *values) setDictionary(page []byte, n int) error {
	if v.dict.there {
		return errors.New("has two dictionaries in a row group")
	}
	if n > 8*len(page) {
		return errValues
	}
	v.encoding, v.data, v.pos = format.Plain, page, 0
	d := &v.dict
	d.spans, d.data, d.faults = d.spans[:0], d.data[:0], nil
	for n > 0 {
		w := window{spans: make([]batch.Span, min(n, windowSize))}
		if err := v.read(&w, len(w.spans)); err != nil {
			return err
		}
		for i, s := range w.spans {
			if s.Len < 0 {
				if d.faults == nil {
					d.faults = map[int]error{}
				}
				d.faults[len(d.spans)] = w.faults[i]
				d.spans = append(d.spans, s)
				continue
			}
			off := len(d.data)
			d.data = append(d.data, w.data[s.Off:int(s.Off)+int(s.Len)]...)
			d.spans = append(d.spans, batch.Span{Off: uint32(off), Len: s.Len})
		}
		n -= len(w.spans)
	}
	d.there = true
	return nil
}

func (v *values) readBytes(w *window, n int) error {
	inPage := v.ofBytes == nil || v.checked // a text is the range of the page where its bytes are
	switch v.encoding {
	case format.DeltaByteArray:
		inPage = false
	case format.ByteStreamSplit:
		inPage = false
	}
	for i := range n {
		raw, at, err := v.nextBytes()
		if err != nil {
			return err
		}
		if inPage {
			if v.checked && !value.ValidUTF8(raw) {
				w.fault(i, errUTF8)
				continue
			}
			w.spans[i] = batch.Span{Off: uint32(at), Len: int32(len(raw))}
			w.longest = max(w.longest, len(raw))
			continue
		}
		from := len(v.text)
		text := v.text
		if v.ofBytes == nil {
			text = append(text, raw...)
		} else if text, err = v.ofBytes(text, raw); err != nil {
			v.text = text[:from]
			w.fault(i, err)
			continue
		}
		v.text = text
		w.spans[i] = batch.Span{Off: uint32(from), Len: int32(len(text) - from)}
		w.longest = max(w.longest, len(text)-from)
	}
	w.data = v.text
	if inPage {
		w.data = v.data
	}
	if w.data == nil {
		w.data = []byte{}
	}
	return nil
}

// nextBytes returns the next value and where it stands in data.
func (v *values) nextBytes() (raw []byte, at int, err error) {
	n := v.size
	switch v.encoding {
	case format.DeltaByteArray:
		raw, err = v.nextPrefixed()
		return raw, 0, err
	case format.ByteStreamSplit:
		raw, err = v.nextStreamed()
		return raw, 0, err
	case format.DeltaLengthByteArray:
		if n, err = v.nextLength(); err != nil {
			return nil, 0, err
		}
	default:
		if n == 0 {
			if len(v.data)-v.pos < 4 {
				return nil, 0, errValues
			}
			length := binary.LittleEndian.Uint32(v.data[v.pos:])
			v.pos += 4
			if uint64(length) > uint64(len(v.data)-v.pos) {
				return nil, 0, errValues
			}
			n = int(length)
		}
	}
	if n > len(v.data)-v.pos {
		return nil, 0, errValues
	}
	at = v.pos
	v.pos += n
	return v.data[at:v.pos:v.pos], at, nil
}

func (v *values) nextLength() (int, error) {
	var n [1]int64
	if err := v.deltas.Read(n[:]); err != nil {
		return 0, err
	}
	if n[0] < 0 || n[0] > int64(len(v.data)-v.pos) {
		return 0, errValues
	}
	return int(n[0]), nil
}

// nextPrefixed returns a value that begins as the one before it does.
func (v *values) nextPrefixed() ([]byte, error) {
	var prefix [1]int64
	if err := v.prefixes.Read(prefix[:]); err != nil {
		return nil, err
	}
	n, err := v.nextLength()
	if err != nil {
		return nil, err
	}
	if prefix[0] < 0 || prefix[0] > int64(len(v.last)) {
		return nil, errValues
	}
	v.last = append(v.last[:prefix[0]], v.data[v.pos:v.pos+n]...)
	v.pos += n
	if v.size > 0 && len(v.last) != v.size {
		return nil, errValues
	}
	return v.last, nil
}

func (v *values) nextStreamed() ([]byte, error) {
	if v.pos >= v.stride {
		return nil, errValues
	}
	v.scratch = v.scratch[:0]
	for k := range v.size {
		v.scratch = append(v.scratch, v.data[k*v.stride+v.pos])
	}
	v.pos++
	return v.scratch, nil
}
