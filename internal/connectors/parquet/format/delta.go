package format

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errDelta = errors.New("its delta encoding is broken")

// Deltas reads whole numbers that are written as differences, piece by piece.
type Deltas struct {
	data  []byte
	pos   int
	left  int   // numbers that are not read
	value int64 // the next number
	first bool  // it is the first, which stands alone

	block, minis int // numbers of a block, and parts of it
	mini         int // numbers of a part
	least        int64
	widths       []byte
	inMini       int // numbers left of the current part
	bit          uint64
	end          int // of the current part in data
}

// Reset begins to read.
func (d *Deltas) Reset(data []byte) error {
	*d = Deltas{data: data, first: true}
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(d.data[d.pos:])
		if n <= 0 || v > 1<<31 {
			return errDelta
		}
		head[i] = v
		d.pos += n
	}
	first, n := binary.Varint(d.data[d.pos:])
	if n <= 0 {
		return errDelta
	}
	d.pos += n
	d.block, d.minis, d.left, d.value = int(head[0]), int(head[1]), int(head[2]), first
	if d.block == 0 || d.minis == 0 || d.block%d.minis != 0 || d.block/d.minis%8 != 0 {
		return errDelta
	}
	d.mini = d.block / d.minis
	return nil
}

// Left returns how many numbers are to come, as claimed.
func (d *Deltas) Left() int { return d.left }

// Read fills dst.
func (d *Deltas) Read(dst []int64) error {
	if len(dst) > d.left {
		return errDelta
	}
	for i := range dst {
		if !d.first {
			if err := d.step(); err != nil {
				return err
			}
		}
		d.first = false
		dst[i] = d.value
		d.left--
	}
	return nil
}

// step adds the next difference.
func (d *Deltas) step() error {
	if d.inMini == 0 {
		if err := d.nextMini(); err != nil {
			return err
		}
	}
	width := uint64(d.widths[0])
	d.value += d.least + int64(d.bits(width))
	d.bit += width
	d.inMini--
	if d.inMini == 0 {
		d.widths = d.widths[1:]
		d.pos = d.end
	}
	return nil
}

// nextMini begins a part of a block, and a block where it is time.
func (d *Deltas) nextMini() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.data[min(d.pos, len(d.data)):])
		if n <= 0 || len(d.data)-d.pos-n < d.minis {
			return errDelta
		}
		d.pos += n
		d.least = least
		d.widths = d.data[d.pos : d.pos+d.minis]
		d.pos += d.minis
	}
	width := int(d.widths[0])
	if width > 64 {
		return errDelta
	}
	// The last part may be cut off behind the numbers that are there.
	need := min(d.mini, d.left)
	if (need*width+7)/8 > len(d.data)-d.pos {
		return errDelta
	}
	d.inMini, d.bit = d.mini, uint64(d.pos)*8
	d.end = min(len(d.data), d.pos+d.mini/8*width)
	return nil
}

// bits returns a packed number.
func (d *Deltas) bits(width uint64) uint64 {
	if width == 0 {
		return 0
	}
	at, shift := int(d.bit/8), d.bit%8
	if at+9 <= len(d.data) {
		v := binary.LittleEndian.Uint64(d.data[at:]) >> shift
		if shift > 0 {
			v |= uint64(d.data[at+8]) << (64 - shift)
		}
		return v & (1<<width - 1)
	}
	var v uint64
	for i := range width {
		k := d.bit + i
		if int(k/8) < len(d.data) {
			v |= uint64(d.data[k/8]>>(k%8)&1) << i
		}
	}
	return v
}

// End returns where what follows the numbers begins, once all are read.
func (d *Deltas) End() int {
	if d.inMini > 0 {
		return d.end
	}
	return d.pos
}

const (
	deltaBlock = 128
	deltaMinis = 4
	deltaMini  = deltaBlock / deltaMinis
)

// AppendDeltas appends numbers as differences. size is that of the numbers in
// bits, in which differences may wrap around.
func AppendDeltas(dst []byte, values []int64, size int) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(dst, 0)
	}
	dst = binary.AppendVarint(dst, values[0])
	var deltas [deltaBlock]int64
	last := values[0]
	for rest := values[1:]; len(rest) > 0; {
		n := min(len(rest), deltaBlock)
		for i, v := range rest[:n] {
			deltas[i] = v - last
			if size == 32 {
				deltas[i] = int64(int32(v - last))
			}
			last = v
		}
		dst = appendDeltaBlock(dst, deltas[:n])
		rest = rest[n:]
	}
	return dst
}

func appendDeltaBlock(dst []byte, deltas []int64) []byte {
	least := deltas[0]
	for _, v := range deltas {
		least = min(least, v)
	}
	dst = binary.AppendVarint(dst, least)
	at := len(dst)
	dst = append(dst, make([]byte, deltaMinis)...)
	for i := range deltaMinis {
		from := i * deltaMini
		if from >= len(deltas) {
			break
		}
		part := deltas[from:min(len(deltas), from+deltaMini)]
		var all uint64
		for _, v := range part {
			all |= uint64(v - least)
		}
		width := bits.Len64(all)
		dst[at+i] = byte(width)
		dst = appendBits(dst, part, least, width)
	}
	return dst
}

// appendBits packs a part, filled up with zeros.
func appendBits(dst []byte, part []int64, least int64, width int) []byte {
	from := len(dst)
	dst = append(dst, make([]byte, deltaMini/8*width)...)
	out := dst[from:]
	bit := 0
	for _, v := range part {
		u := uint64(v - least)
		for left := width; left > 0; {
			shift := bit % 8
			out[bit/8] |= byte(u << shift)
			n := min(8-shift, left)
			u >>= n
			bit += n
			left -= n
		}
	}
	return dst
}
