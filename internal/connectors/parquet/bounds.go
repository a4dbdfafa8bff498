package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// maxBound is the longest text that is written as a bound.
const maxBound = 64

// bounds finds the least and the greatest value of a column in a row group,
// for readers that look for some only.
type bounds struct {
	// loose says that they cannot be told any more.
	loose bool
	any   bool
	scan  func(b *bounds, plain []byte)

	low, high       int64
	ulow, uhigh     uint64
	flow, fhigh     float64
	least, greatest []byte
	append          func(b *bounds) (least, greatest []byte)
	size            int
}

// boundsOf returns the bounds of a column in the order of its type.
func boundsOf(e *format.Element) bounds {
	b := bounds{size: int(e.Length)}
	unsigned := e.Logical.Kind == format.Integer && !e.Logical.Signed
	switch e.Type {
	case format.Int32:
		b.scan, b.append = scan32, append32Bounds
		if unsigned {
			b.scan, b.append = scanUint32, appendUint32Bounds
		}
	case format.Int64:
		b.scan, b.append = scan64, append64Bounds
		if unsigned {
			b.scan, b.append = scanUint64, appendUint64Bounds
		}
	case format.Float:
		b.scan, b.append = scanFloat, appendFloatBounds
	case format.Double:
		b.scan, b.append = scanDouble, appendDoubleBounds
	case format.ByteArray:
		b.scan, b.append = scanTexts, textBounds
	case format.Fixed:
		if e.Logical.Kind == format.UUID {
			b.scan, b.append = scanFixed, textBounds
		}
	}
	return b
}

func (b *bounds) reset() {
	b.loose, b.any = false, false
	b.low, b.high = math.MaxInt64, math.MinInt64
	b.ulow, b.uhigh = math.MaxUint64, 0
	b.flow, b.fhigh = math.Inf(1), math.Inf(-1)
	b.least, b.greatest = b.least[:0], b.greatest[:0]
}

// add takes PLAIN values.
func (b *bounds) add(plain []byte) {
	if b.scan != nil && !b.loose && len(plain) > 0 {
		b.scan(b, plain)
	}
}

// minmax returns the bounds as they are written, nil where there are none.
func (b *bounds) minmax() (least, greatest []byte) {
	if b.loose || !b.any {
		return nil, nil
	}
	return b.append(b)
}

func scan32(b *bounds, plain []byte) {
	b.any = true
	for i := 0; i+4 <= len(plain); i += 4 {
		v := int64(int32(binary.LittleEndian.Uint32(plain[i:])))
		b.low, b.high = min(b.low, v), max(b.high, v)
	}
}

func scan64(b *bounds, plain []byte) {
	b.any = true
	for i := 0; i+8 <= len(plain); i += 8 {
		v := int64(binary.LittleEndian.Uint64(plain[i:]))
		b.low, b.high = min(b.low, v), max(b.high, v)
	}
}

func scanUint32(b *bounds, plain []byte) {
	b.any = true
	for i := 0; i+4 <= len(plain); i += 4 {
		v := uint64(binary.LittleEndian.Uint32(plain[i:]))
		b.ulow, b.uhigh = min(b.ulow, v), max(b.uhigh, v)
	}
}

func scanUint64(b *bounds, plain []byte) {
	b.any = true
	for i := 0; i+8 <= len(plain); i += 8 {
		v := binary.LittleEndian.Uint64(plain[i:])
		b.ulow, b.uhigh = min(b.ulow, v), max(b.uhigh, v)
	}
}

// A NaN has no place in the order: a column with one has no bounds.
func scanFloat(b *bounds, plain []byte) {
	for i := 0; i+4 <= len(plain); i += 4 {
		b.addFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(plain[i:]))))
	}
}

func scanDouble(b *bounds, plain []byte) {
	for i := 0; i+8 <= len(plain); i += 8 {
		b.addFloat(math.Float64frombits(binary.LittleEndian.Uint64(plain[i:])))
	}
}

func (b *bounds) addFloat(v float64) {
	if v != v {
		b.loose = true
		return
	}
	b.any = true
	b.flow, b.fhigh = min(b.flow, v), max(b.fhigh, v)
}

func scanTexts(b *bounds, plain []byte) {
	for len(plain) >= 4 {
		n := int(binary.LittleEndian.Uint32(plain))
		b.addBytes(plain[4 : 4+n])
		plain = plain[4+n:]
	}
}

func scanFixed(b *bounds, plain []byte) {
	for ; len(plain) >= b.size; plain = plain[b.size:] {
		b.addBytes(plain[:b.size])
	}
}

func (b *bounds) addBytes(v []byte) {
	v = v[:min(len(v), maxBound+1)] // of what is left out, no more than tells so
	switch {
	case !b.any:
		b.any = true
		b.least, b.greatest = append(b.least[:0], v...), append(b.greatest[:0], v...)
	case bytes.Compare(v, b.least) < 0:
		b.least = append(b.least[:0], v...)
	case bytes.Compare(v, b.greatest) > 0:
		b.greatest = append(b.greatest[:0], v...)
	}
}

func append32Bounds(b *bounds) (least, greatest []byte) {
	return append32(nil, int32(b.low)), append32(nil, int32(b.high))
}

func append64Bounds(b *bounds) (least, greatest []byte) {
	return append64(nil, b.low), append64(nil, b.high)
}

func appendUint32Bounds(b *bounds) (least, greatest []byte) {
	return append32(nil, int32(uint32(b.ulow))), append32(nil, int32(uint32(b.uhigh)))
}

func appendUint64Bounds(b *bounds) (least, greatest []byte) {
	return append64(nil, int64(b.ulow)), append64(nil, int64(b.uhigh))
}

// signed gives a zero the sign that takes in both.
func signed(v float64, negative bool) float64 {
	if v == 0 {
		v = 0
		if negative {
			v = math.Copysign(0, -1)
		}
	}
	return v
}

func appendFloatBounds(b *bounds) (least, greatest []byte) {
	low, high := float32(signed(b.flow, true)), float32(signed(b.fhigh, false))
	return append32(nil, int32(math.Float32bits(low))), append32(nil, int32(math.Float32bits(high)))
}

func appendDoubleBounds(b *bounds) (least, greatest []byte) {
	low, high := signed(b.flow, true), signed(b.fhigh, false)
	return append64(nil, int64(math.Float64bits(low))), append64(nil, int64(math.Float64bits(high)))
}

// textBounds leaves long ones out.
func textBounds(b *bounds) (least, greatest []byte) {
	if len(b.least) > maxBound || len(b.greatest) > maxBound {
		return nil, nil
	}
	return bytes.Clone(b.least), bytes.Clone(b.greatest)
}
