package codec

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

var errDeep = errors.New("values nest too deep, or in a circle")

// Append writes the struct v behind dst.
func (p *Plan) Append(dst []byte, v reflect.Value) ([]byte, error) {
	return p.append(dst, v, 0)
}

func (p *Plan) append(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	if depth > maxDepth {
		return dst, errDeep
	}
	var err error
	for i := range p.fields {
		f := &p.fields[i]
		if dst, err = f.value.appendField(dst, f.number, v.Field(f.index), depth); err != nil {
			return dst, fmt.Errorf("%s.%s: %w", p.typ, f.name, err)
		}
	}
	return dst, nil
}

// appendField writes a field unless it holds its zero value.
func (v *value) appendField(dst []byte, number int, rv reflect.Value, depth int) ([]byte, error) {
	switch v.form {
	case formPointer:
		if rv.IsNil() {
			return dst, nil
		}
		return v.elem.appendOne(dst, number, rv.Elem(), depth)
	case formSlice:
		return v.appendSlice(dst, number, rv, depth)
	case formMap:
		return v.appendMap(dst, number, rv, depth)
	case formBytes:
		if rv.Len() == 0 {
			return dst, nil
		}
	case formTime:
		if t, ok := reflect.TypeAssert[time.Time](rv); ok && t.IsZero() {
			return dst, nil
		}
	default:
		if rv.IsZero() {
			return dst, nil
		}
	}
	return v.appendOne(dst, number, rv, depth)
}

// appendOne writes a key and a value, zero or not.
func (v *value) appendOne(dst []byte, number int, rv reflect.Value, depth int) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(number)<<3|uint64(v.wireType()))
	switch v.form {
	case formString:
		s := rv.String()
		return append(binary.AppendUvarint(dst, uint64(len(s))), s...), nil
	case formBytes:
		b := rv.Bytes()
		return append(binary.AppendUvarint(dst, uint64(len(b))), b...), nil
	case formByteArray:
		dst = binary.AppendUvarint(dst, uint64(rv.Len()))
		for i := range rv.Len() {
			dst = append(dst, byte(rv.Index(i).Uint()))
		}
		return dst, nil
	case formStruct, formTime, formBinary, formCustom:
		return v.appendNested(dst, rv, depth)
	case formPointer:
		return dst, errors.New("a nil pointer in a list or map cannot be carried")
	default:
		return v.appendScalar(dst, rv), nil
	}
}

func (v *value) wireType() int {
	switch v.form {
	case formBool, formInt, formUint:
		return wireVarint
	case formFloat64:
		return wireFixed64
	case formFloat32:
		return wireFixed32
	case formPointer:
		return v.elem.wireType()
	default:
		return wireBytes
	}
}

func (v *value) appendScalar(dst []byte, rv reflect.Value) []byte {
	switch v.form {
	case formBool:
		if rv.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case formInt:
		return binary.AppendVarint(dst, rv.Int())
	case formUint:
		return binary.AppendUvarint(dst, rv.Uint())
	case formFloat32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(rv.Float())))
	default:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(rv.Float()))
	}
}

// appendNested writes a length and what a type writes of itself. The length
// takes one byte in most cases, so room for one is left, and more is made when
// needed.
func (v *value) appendNested(dst []byte, rv reflect.Value, depth int) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0)
	var err error
	switch v.form {
	case formStruct:
		dst, err = v.plan.append(dst, rv, depth+1)
	case formTime:
		t, _ := reflect.TypeAssert[time.Time](rv)
		dst = binary.AppendVarint(append(dst, 1<<3|wireVarint), t.Unix())
		dst = binary.AppendUvarint(append(dst, 2<<3|wireVarint), uint64(t.Nanosecond()))
	case formBinary:
		m, _ := reflect.TypeAssert[encoding.BinaryMarshaler](rv)
		var b []byte
		b, err = m.MarshalBinary()
		dst = append(dst, b...)
	default:
		dst, err = v.custom.Append(dst, rv)
	}
	if err != nil {
		return dst, err
	}
	return fixLength(dst, start), nil
}

// fixLength puts the length of what was written behind start+1 at start.
func fixLength(dst []byte, start int) []byte {
	n := len(dst) - start - 1
	if n < 0x80 {
		dst[start] = byte(n)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	dst = append(dst, length[1:size]...)
	copy(dst[start+size:], dst[start+1:start+1+n])
	copy(dst[start:], length[:size])
	return dst
}

func (v *value) appendSlice(dst []byte, number int, rv reflect.Value, depth int) ([]byte, error) {
	n := rv.Len()
	if n == 0 {
		return dst, nil
	}
	if v.elem.wireType() != wireBytes && v.elem.form != formPointer {
		dst = binary.AppendUvarint(dst, uint64(number)<<3|wireBytes)
		start := len(dst)
		dst = append(dst, 0)
		for i := range n {
			dst = v.elem.appendScalar(dst, rv.Index(i))
		}
		return fixLength(dst, start), nil
	}
	var err error
	for i := range n {
		if dst, err = v.elem.appendElem(dst, number, rv.Index(i), depth); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendElem is appendOne that follows a pointer.
func (v *value) appendElem(dst []byte, number int, rv reflect.Value, depth int) ([]byte, error) {
	if v.form == formPointer && !rv.IsNil() {
		return v.elem.appendOne(dst, number, rv.Elem(), depth)
	}
	return v.appendOne(dst, number, rv, depth)
}

func (v *value) appendMap(dst []byte, number int, rv reflect.Value, depth int) ([]byte, error) {
	if rv.Len() == 0 {
		return dst, nil
	}
	keys := rv.MapKeys()
	slices.SortFunc(keys, v.key.compare)
	var err error
	for _, key := range keys {
		dst = binary.AppendUvarint(dst, uint64(number)<<3|wireBytes)
		start := len(dst)
		dst = append(dst, 0)
		if dst, err = v.key.appendOne(dst, 1, key, depth); err != nil {
			return dst, err
		}
		if dst, err = v.elem.appendElem(dst, 2, rv.MapIndex(key), depth); err != nil {
			return dst, err
		}
		dst = fixLength(dst, start)
	}
	return dst, nil
}

func (v *value) compare(a, b reflect.Value) int {
	switch v.form {
	case formString:
		return strings.Compare(a.String(), b.String())
	case formInt:
		return compare(a.Int(), b.Int())
	case formUint:
		return compare(a.Uint(), b.Uint())
	default:
		return compare(rank(a.Bool()), rank(b.Bool()))
	}
}

func compare[T int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func rank(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
