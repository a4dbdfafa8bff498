package stream

import (
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

func appendBool(dst []byte, r *random, _ *batch.Type) []byte {
	return strconv.AppendBool(dst, r.next()&1 == 1)
}

// bitsOf returns the width of an integer kind.
func bitsOf(k batch.Kind) uint {
	switch k {
	case batch.Int8, batch.Uint8:
		return 8
	case batch.Int16, batch.Uint16:
		return 16
	case batch.Int32, batch.Uint32:
		return 32
	}
	return 64
}

// appendInt makes small, large and extreme values alike.
func appendInt(dst []byte, r *random, t *batch.Type) []byte {
	width := bitsOf(t.Kind)
	v := int64(r.next())
	switch r.below(32) {
	case 0:
		v = -1 << (width - 1)
	case 1:
		v = 1<<(width-1) - 1
	case 2:
		v = 0
	default:
		v >>= 64 - width + uint(r.below(uint64(width-1)))
	}
	return strconv.AppendInt(dst, v, 10)
}

// appendUint is appendInt for values from 0; those of 64 bits stay below
// 2^63, so that databases without unsigned numbers have room for them.
func appendUint(dst []byte, r *random, t *batch.Type) []byte {
	width := min(bitsOf(t.Kind), 63)
	v := r.next()
	switch r.below(32) {
	case 0:
		v = ^uint64(0) >> (64 - width)
	case 1:
		v = 0
	default:
		v >>= 64 - width + uint(r.below(uint64(width-1)))
	}
	return strconv.AppendUint(dst, v, 10)
}

// appendFloat makes values that the shortest text of their width tells.
func appendFloat(dst []byte, r *random, t *batch.Type) []byte {
	f := float64(int64(r.next())>>43) / float64(uint64(1)<<r.below(11))
	if t.Kind == batch.Float32 {
		return value.AppendFloat(dst, f, 32)
	}
	return value.AppendFloat(dst, f/1000, 64)
}

// appendDecimal makes a value that fills the type's scale and at most its
// precision; an unbounded one has up to 20 digits and 0 to 9 of them decimal.
func appendDecimal(dst []byte, r *random, t *batch.Type) []byte {
	precision, scale := t.Precision, t.Scale
	if precision == 0 {
		scale = int(r.below(10))
		precision = 11 + scale
	}
	if r.next()&3 == 0 {
		dst = append(dst, '-')
	}
	start := len(dst)
	whole := max(0, precision-max(scale, 0))
	dst = appendDigits(dst, r, int(r.below(uint64(whole)+1)))
	for len(dst)-start > 1 && dst[start] == '0' {
		dst = append(dst[:start], dst[start+1:]...)
	}
	if len(dst) == start {
		dst = append(dst, '0')
	}
	if dst[start] != '0' {
		for range -min(scale, 0) {
			dst = append(dst, '0')
		}
	}
	if scale > 0 {
		dst = append(dst, '.')
		for range max(0, scale-precision) {
			dst = append(dst, '0')
		}
		dst = appendDigits(dst, r, min(scale, precision))
	}
	return positiveZero(dst, start)
}

// positiveZero takes away the minus sign before a value of only zeros.
func positiveZero(dst []byte, start int) []byte {
	if start == 0 || dst[start-1] != '-' {
		return dst
	}
	for _, c := range dst[start:] {
		if c != '0' && c != '.' {
			return dst
		}
	}
	return append(dst[:start-1], dst[start:]...)
}

func appendDigits(dst []byte, r *random, n int) []byte {
	for n > 0 {
		v := r.next()
		for range min(n, 16) {
			dst = append(dst, '0'+byte(v%10))
			v /= 10
		}
		n -= min(n, 16)
	}
	return dst
}
