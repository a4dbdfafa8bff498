package format

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var (
	errRuns  = errors.New("its levels or indexes end early")
	errWidth = errors.New("its levels or indexes are wider than 32 bits")
)

// Runs reads the hybrid of repeated and bit-packed numbers, in which levels
// and indexes of a dictionary are written. However long a run claims to be, it
// is read piece by piece.
type Runs struct {
	data  []byte
	pos   int
	width uint

	left   int    // numbers of the current run
	packed bool   // they are packed, from bit on
	value  uint32 // that repeats
	bit    uint64
}

// Reset begins to read numbers of a width in bits.
func (r *Runs) Reset(data []byte, width int) error {
	if width < 0 || width > 32 {
		return errWidth
	}
	*r = Runs{data: data, width: uint(width)}
	return nil
}

// Read fills dst.
func (r *Runs) Read(dst []uint32) error {
	for len(dst) > 0 {
		if r.left == 0 {
			if err := r.next(); err != nil {
				return err
			}
			continue
		}
		n := min(len(dst), r.left)
		if r.packed {
			r.unpack(dst[:n])
		} else {
			for i := range dst[:n] {
				dst[i] = r.value
			}
		}
		r.left -= n
		dst = dst[n:]
	}
	return nil
}

// next reads the head of a run.
func (r *Runs) next() error {
	head, n := binary.Uvarint(r.data[r.pos:])
	if n <= 0 || head>>1 == 0 {
		return errRuns
	}
	r.pos += n
	if r.packed = head&1 == 1; r.packed {
		groups := head >> 1
		// The last groups may be cut off where nobody needs them.
		there := uint64(len(r.data)-r.pos) * 8
		if r.width > 0 && groups > (there/uint64(r.width)+7)/8 {
			groups = (there/uint64(r.width) + 7) / 8
		}
		if groups == 0 || groups > 1<<31 {
			return errRuns
		}
		r.left = int(groups) * 8
		if r.width > 0 {
			r.left = int(min(uint64(r.left), there/uint64(r.width)))
		}
		r.bit = uint64(r.pos) * 8
		r.pos = min(len(r.data), r.pos+int(groups)*int(r.width))
		return nil
	}
	size := int(r.width+7) / 8
	if len(r.data)-r.pos < size || head>>1 > 1<<32 {
		return errRuns
	}
	r.value = 0
	for i := range size {
		r.value |= uint32(r.data[r.pos+i]) << (8 * i)
	}
	if r.width < 32 && r.value>>r.width != 0 {
		return errRuns
	}
	r.pos += size
	r.left = int(head >> 1)
	return nil
}

func (r *Runs) unpack(dst []uint32) {
	width := uint64(r.width)
	mask := uint32(1<<width - 1)
	i := 0
	// While eight bytes are there, a number is a shift of them.
	for ; i < len(dst) && int(r.bit/8)+8 <= len(r.data); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(r.data[r.bit/8:])>>(r.bit%8)) & mask
		r.bit += width
	}
	for ; i < len(dst); i++ {
		var v uint64
		for k, b := range r.data[min(int(r.bit/8), len(r.data)):] {
			v |= uint64(b) << (8 * k)
		}
		dst[i] = uint32(v>>(r.bit%8)) & mask
		r.bit += width
	}
}

// AppendRuns appends numbers of a width: repeated ones as such where eight and
// more follow one another, others packed.
func AppendRuns(dst []byte, values []uint32, width int) []byte {
	from := 0 // the first that is not written
	for i := 0; i < len(values); {
		n := 1
		for i+n < len(values) && values[i+n] == values[i] {
			n++
		}
		// Packed ones come in groups of eight: what fills the last group up
		// is taken from this run.
		fill := -(i - from) & 7
		if n-fill < 8 {
			i += n
			continue
		}
		dst = appendPacked(dst, values[from:i+fill], width)
		dst = appendRun(dst, values[i], n-fill, width)
		i += n
		from = i
	}
	return appendPacked(dst, values[from:], width)
}

func appendRun(dst []byte, v uint32, n, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for range (width + 7) / 8 {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

func appendPacked(dst []byte, values []uint32, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	var hold uint64
	held := 0
	for i := range groups * 8 {
		if i < len(values) {
			hold |= uint64(values[i]) << held
		}
		held += width
		for held >= 8 {
			dst = append(dst, byte(hold))
			hold >>= 8
			held -= 8
		}
	}
	return dst
}

// WidthOf returns the bits that numbers up to a highest one need.
func WidthOf(highest uint32) int { return bits.Len32(highest) }
