package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/leatdata/leat/batch/value"
)

// What only PostgreSQL refuses of a cell. Static, so that a dirty record costs
// no more than its message.
var (
	errZeroByte     = errors.New("PostgreSQL's text cannot hold a zero byte")
	errNotUTF8      = errors.New("not UTF-8")
	errTooLong      = errors.New("longer than the column")
	errBitLength    = errors.New("not of the column's number of bits")
	errRounded      = errors.New("finer than the column: it would be rounded")
	errDateRange    = errors.New("out of PostgreSQL's range of dates")
	errTimeRange    = errors.New("not between 00:00:00 and 24:00:00")
	errLabel        = errors.New("not a label of the enum")
	errDigits       = errors.New("more digits than PostgreSQL's numeric can hold")
	errInterval     = errors.New("has parts that the column's interval fields drop")
	errNotInfinite  = errors.New("this server's interval has no infinity")
	errNullRequired = errors.New("NULL in a column that is NOT NULL")
)

// The ranges of date and timestamp, in days and microseconds since 2000-01-01.
const (
	minDate      = -2451545
	endDate      = 2145031949
	minTimestamp = -211813488000000000
	endTimestamp = 9223371331200000000
)

// encoder makes the binary wire form of one column's cells. Its append adds
// the value to dst, without the length; dst may come back longer than it was
// when there is an error, and is then to be cut. The zero bounds are none.
type encoder struct {
	append func(e *encoder, dst, cell []byte) ([]byte, error)
	oid    oid
	// raw says that cells of bytea are the bytes themselves; those within an
	// array are a text of them.
	raw       bool
	precision int
	scale     int
	length    int
	fixed     bool
	// unit is the microseconds between two values of a time type.
	unit int64
	// field is the lowest part that an interval column keeps, in microseconds;
	// -1 for days, -2 for months, -3 for years.
	field    int64
	infinity bool
	labels   map[string]struct{}
	// clean says that cells were judged as texts before.
	clean   bool
	elem    *encoder
	array   value.Array
	scratch []byte
}

// newEncoder returns the encoder of a column, nil for a type that has none.
func newEncoder(t *typeInfo, mod int32, serverVersion int) *encoder {
	t, mod = t.under(mod)
	e := &encoder{oid: t.oid, raw: true, unit: 1, field: 1, infinity: serverVersion >= 170000}
	switch t.oid {
	case oidBool:
		e.append = appendBool
	case oidInt2:
		e.append = appendInt2
	case oidInt4:
		e.append = appendInt4
	case oidInt8:
		e.append = appendInt8
	case oidOID:
		e.append = appendOID
	case oidFloat4:
		e.append = appendFloat4
	case oidFloat8:
		e.append = appendFloat8
	case oidNumeric:
		e.append = appendNumeric
		e.precision, e.scale = numericMod(mod)
	case oidBytea:
		e.append = appendBytea
	case oidUUID:
		e.append = appendUUID
	case oidJSON:
		e.append = appendText
	case oidJSONB:
		e.append = appendJSONB
	case oidDate:
		e.append = appendDate
	default:
		e.bounded(t, mod)
	}
	if e.append == nil {
		return nil
	}
	return e
}

// bounded sets up the types whose modifier bounds them, enums and arrays.
func (e *encoder) bounded(t *typeInfo, mod int32) {
	switch t.oid {
	case oidText:
		e.append = appendText
	case oidVarchar, oidBpchar:
		e.append, e.length = appendText, lengthOf(mod)
	case oidName:
		e.append, e.length = appendShort, 63
	case oidChar:
		e.append, e.length, e.fixed = appendShort, 1, true
	case oidBit, oidVarbit:
		e.append, e.length, e.fixed = appendBits, max(0, int(mod)), t.oid == oidBit
	case oidTime, oidTimeTZ, oidTimestamp, oidTimestampTZ:
		e.unit = unitOf(fractionOf(mod))
		e.append = map[oid]func(*encoder, []byte, []byte) ([]byte, error){
			oidTime: appendTime, oidTimeTZ: appendTimeTZ, oidTimestamp: appendTimestamp, oidTimestampTZ: appendInstant,
		}[t.oid]
	case oidInterval:
		e.append, e.unit, e.field = appendInterval, unitOf(intervalFraction(mod)), intervalField(mod)
	default:
		e.composed(t, mod)
	}
}

func (e *encoder) composed(t *typeInfo, mod int32) {
	switch {
	case t.kind == 'e':
		e.append, e.labels = appendEnum, t.labels
	case t.elem != nil && t.delim == ',':
		if elem := newEncoder(t.elem, mod, 0); elem != nil && elem.elem == nil {
			// A domain's elements are sent as what they stand on.
			elem.oid, elem.raw, elem.infinity = t.elem.oid, false, e.infinity
			e.append, e.elem = appendArray, elem
		}
	}
}

func unitOf(fraction int) int64 {
	unit := int64(1)
	for range 6 - fraction {
		unit *= 10
	}
	return unit
}

// intervalField returns the lowest part that an interval's modifier keeps.
func intervalField(mod int32) int64 {
	if mod < 0 || mod>>16&0x7fff == 0x7fff {
		return 1
	}
	switch fields := mod >> 16; {
	case fields&(1<<12) != 0:
		return 1
	case fields&(1<<11) != 0:
		return value.Minute
	case fields&(1<<10) != 0:
		return value.Hour
	case fields&(1<<3) != 0:
		return -1
	case fields&(1<<1) != 0:
		return -2
	}
	return -3
}

func appendBool(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseBool(cell)
	if v {
		return append(dst, 1), err
	}
	return append(dst, 0), err
}

func appendInt2(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseInt(cell, 16)
	return binary.BigEndian.AppendUint16(dst, uint16(v)), err
}

func appendInt4(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseInt(cell, 32)
	return binary.BigEndian.AppendUint32(dst, uint32(v)), err
}

func appendInt8(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseInt(cell, 64)
	return binary.BigEndian.AppendUint64(dst, uint64(v)), err
}

func appendOID(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseUint(cell, 32)
	return binary.BigEndian.AppendUint32(dst, uint32(v)), err
}

func appendUUID(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseUUID(cell)
	return append(dst, v[:]...), err
}

func appendBytea(e *encoder, dst, cell []byte) ([]byte, error) {
	if e.raw {
		return append(dst, cell...), nil
	}
	return value.ParseBytes(dst, cell)
}

// checkText finds what no text of PostgreSQL can hold, where that is not known.
func (e *encoder) checkText(cell []byte) error {
	if e.clean {
		return nil
	}
	return checkText(cell)
}

// checkText finds what no text of PostgreSQL can hold.
func checkText(cell []byte) error {
	if plainText(cell) {
		return nil
	}
	if bytes.IndexByte(cell, 0) >= 0 {
		return errZeroByte
	}
	if !utf8.Valid(cell) {
		return errNotUTF8
	}
	return nil
}

// plainText reports whether all bytes are ASCII and none is zero.
func plainText(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(b) >= 8 {
		if w := binary.LittleEndian.Uint64(b); (w|(w-ones))&highs != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c-1 >= 127 {
			return false
		}
	}
	return true
}

func appendText(e *encoder, dst, cell []byte) ([]byte, error) {
	if err := e.checkText(cell); err != nil {
		return dst, err
	}
	if e.length > 0 && len(cell) > e.length && utf8.RuneCount(cell) > e.length {
		return dst, errTooLong
	}
	return append(dst, cell...), nil
}

// appendShort is for the types that are bounded in bytes.
func appendShort(e *encoder, dst, cell []byte) ([]byte, error) {
	if err := e.checkText(cell); err != nil {
		return dst, err
	}
	if len(cell) > e.length {
		return dst, errTooLong
	}
	if e.fixed && len(cell) == 0 {
		return append(dst, 0), nil
	}
	return append(dst, cell...), nil
}

func appendEnum(e *encoder, dst, cell []byte) ([]byte, error) {
	if _, ok := e.labels[string(cell)]; !ok {
		return dst, errLabel
	}
	return append(dst, cell...), nil
}

// appendJSONB sends jsonb's version before the text.
func appendJSONB(e *encoder, dst, cell []byte) ([]byte, error) {
	return appendText(e, append(dst, 1), cell)
}

func appendBits(e *encoder, dst, cell []byte) ([]byte, error) {
	bits, err := value.ParseBit(cell)
	if err != nil {
		return dst, err
	}
	switch {
	case e.fixed && len(bits) != e.length:
		return dst, errBitLength
	case e.length > 0 && len(bits) > e.length:
		return dst, errTooLong
	}
	return value.PackBits(binary.BigEndian.AppendUint32(dst, uint32(len(bits))), bits), nil
}
