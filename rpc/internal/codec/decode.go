package codec

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
)

var (
	errCut      = errors.New("the bytes end within a field")
	errNumber   = errors.New("not a field's key")
	errWireType = errors.New("the field is of another kind in the sender's release")
	errRange    = errors.New("the number does not fit")
)

// Decode reads data into the struct v, which has to be settable. What the plan
// does not know is skipped. No memory is taken for what data only claims to hold.
func (p *Plan) Decode(data []byte, v reflect.Value, with any) error {
	return p.decode(data, v, with, 0)
}

func (p *Plan) decode(data []byte, v reflect.Value, with any, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	for len(data) > 0 {
		number, wire, rest, err := cutKey(data)
		if err != nil {
			return err
		}
		raw, rest, err := cutValue(rest, wire)
		if err != nil {
			return err
		}
		data = rest
		f := p.lookup(number)
		if f == nil {
			continue
		}
		if err := f.value.decode(raw, wire, v.Field(f.index), with, depth); err != nil {
			return fmt.Errorf("%s.%s: %w", p.typ, f.name, err)
		}
	}
	return nil
}

func cutKey(data []byte) (number uint64, wire int, rest []byte, err error) {
	key, n := uvarint(data)
	if n <= 0 {
		return 0, 0, nil, errCut
	}
	if key>>3 == 0 || key>>3 >= 1<<29 {
		return 0, 0, nil, errNumber
	}
	return key >> 3, int(key & 7), data[n:], nil
}

// uvarint is binary.Uvarint with a short way for one byte.
func uvarint(data []byte) (uint64, int) {
	if len(data) > 0 && data[0] < 0x80 {
		return uint64(data[0]), 1
	}
	return binary.Uvarint(data)
}

// cutValue takes the bytes of a value of a wire type off data.
func cutValue(data []byte, wire int) (raw, rest []byte, err error) {
	var n int
	switch wire {
	case wireVarint:
		if _, n = uvarint(data); n <= 0 {
			return nil, nil, errCut
		}
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		length, size := uvarint(data)
		if size <= 0 || length > uint64(len(data)-size) {
			return nil, nil, errCut
		}
		data = data[size:]
		n = int(length)
	default:
		return nil, nil, errNumber
	}
	if n > len(data) {
		return nil, nil, errCut
	}
	return data[:n], data[n:], nil
}

// decode reads one value of a field; a list or map gets one entry more.
func (v *value) decode(raw []byte, wire int, rv reflect.Value, with any, depth int) error {
	if v.form == formSlice {
		return v.decodeSlice(raw, wire, rv, with, depth)
	}
	if wire != v.wireType() {
		return errWireType
	}
	switch v.form {
	case formPointer:
		if rv.IsNil() {
			rv.Set(reflect.New(v.typ.Elem()))
		}
		return v.elem.decode(raw, wire, rv.Elem(), with, depth)
	case formMap:
		return v.decodeMap(raw, rv, with, depth)
	case formString:
		rv.SetString(string(raw))
	case formBytes:
		rv.SetBytes(append([]byte(nil), raw...))
	case formByteArray:
		if len(raw) != rv.Len() {
			return fmt.Errorf("%d bytes where there should be %d", len(raw), rv.Len())
		}
		reflect.Copy(rv, reflect.ValueOf(raw))
	case formStruct:
		return v.plan.decode(raw, rv, with, depth+1)
	case formTime:
		t, err := decodeTime(raw)
		if err != nil {
			return err
		}
		rv.Set(reflect.ValueOf(t))
	case formBinary:
		u, _ := reflect.TypeAssert[encoding.BinaryUnmarshaler](rv.Addr())
		return u.UnmarshalBinary(raw)
	case formCustom:
		return v.custom.Decode(raw, rv, with)
	default:
		return v.setScalar(raw, rv)
	}
	return nil
}

func (v *value) setScalar(raw []byte, rv reflect.Value) error {
	switch v.form {
	case formBool:
		n, _ := uvarint(raw)
		rv.SetBool(n != 0)
	case formInt:
		u, _ := uvarint(raw)
		n := int64(u>>1) ^ -int64(u&1)
		if rv.OverflowInt(n) {
			return errRange
		}
		rv.SetInt(n)
	case formUint:
		n, _ := uvarint(raw)
		if rv.OverflowUint(n) {
			return errRange
		}
		rv.SetUint(n)
	case formFloat32:
		rv.SetFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
	default:
		rv.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	}
	return nil
}

func (v *value) decodeSlice(raw []byte, wire int, rv reflect.Value, with any, depth int) error {
	if wire != wireBytes && v.elem.form != formPointer {
		return errWireType
	}
	if v.elem.wireType() == wireBytes || v.elem.form == formPointer {
		entry := reflect.New(v.typ.Elem()).Elem()
		if err := v.elem.decode(raw, wire, entry, with, depth); err != nil {
			return err
		}
		rv.Set(reflect.Append(rv, entry))
		return nil
	}
	for len(raw) > 0 {
		one, rest, err := cutValue(raw, v.elem.wireType())
		if err != nil {
			return err
		}
		n := rv.Len()
		if n == rv.Cap() {
			rv.Grow(1)
		}
		rv.SetLen(n + 1)
		if err := v.elem.setScalar(one, rv.Index(n)); err != nil {
			return err
		}
		raw = rest
	}
	return nil
}

func (v *value) decodeMap(raw []byte, rv reflect.Value, with any, depth int) error {
	key := reflect.New(v.typ.Key()).Elem()
	elem := reflect.New(v.typ.Elem()).Elem()
	for len(raw) > 0 {
		number, wire, rest, err := cutKey(raw)
		if err != nil {
			return err
		}
		one, rest, err := cutValue(rest, wire)
		if err != nil {
			return err
		}
		raw = rest
		switch number {
		case 1:
			err = v.key.decode(one, wire, key, with, depth)
		case 2:
			err = v.elem.decode(one, wire, elem, with, depth)
		}
		if err != nil {
			return err
		}
	}
	if v.elem.form == formPointer && elem.IsNil() {
		return errCut
	}
	if rv.IsNil() {
		rv.Set(reflect.MakeMap(v.typ))
	}
	rv.SetMapIndex(key, elem)
	return nil
}

func decodeTime(raw []byte) (time.Time, error) {
	var seconds int64
	var nanos uint64
	for len(raw) > 0 {
		number, wire, rest, err := cutKey(raw)
		if err != nil {
			return time.Time{}, err
		}
		one, rest, err := cutValue(rest, wire)
		if err != nil {
			return time.Time{}, err
		}
		raw = rest
		if wire != wireVarint {
			continue
		}
		switch u, _ := uvarint(one); number {
		case 1:
			seconds = int64(u>>1) ^ -int64(u&1)
		case 2:
			nanos = u
		}
	}
	if nanos >= 1e9 {
		return time.Time{}, errRange
	}
	return time.Unix(seconds, int64(nanos)).UTC(), nil
}
