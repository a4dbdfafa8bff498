package value

import (
	"fmt"

	"github.com/leatdata/leat/batch"
)

// Converter appends to dst the text that a cell has in another type, and
// returns the extended dst; nothing appended is the empty value, never NULL.
// The cell is not NULL either. On an error, which is about this one record,
// dst is returned as it was. A Converter may keep a buffer: it serves one
// goroutine.
type Converter func(dst, cell []byte) ([]byte, error)

// Convert returns how cells of one type become cells of another without
// changing the value: a record whose value the other kind cannot express gets
// an error. A nil Converter means that the text may pass as it is, and that
// the parser of the target's type judges it, with its bounds. Where no value
// of the one type has a meaning in the other the error is ErrNoConversion. The
// table of all pairs stands in the package's tests; in short:
//
//   - Text, Untyped and Named: the text passes; for Bytes, the bytes of
//     hexadecimal digits after \x, or without \x the text's own
//   - anything to Text, Untyped and Named: its canonical text; Bytes as \x and
//     hexadecimal digits
//   - Bool to numbers: 0 and 1, and back only from these
//   - between numbers: only where the other kind has the very value
//   - Bit to integers, Decimal and Bytes, and back from integers and Bytes: the bits as a number without a
//     sign, highest place first, as in MySQL; Bit to Bool: a single bit
//   - Date to timestamps: midnight; back only at midnight
//   - Timestamp, Instant; Time, TimeTZ: the wall clock is that of UTC
//   - Time to Interval, and back where it has no days and months
//   - Array to Array: element by element
//   - to JSON: numbers, booleans and arrays as such, times and UUIDs as strings;
//     back from a JSON array to Array, element by element
func Convert(from, to batch.Type) (Converter, error) {
	c, ok := conversion(from, to, false)
	if ok {
		return c, nil
	}
	if _, ok = conversion(from, to, true); ok {
		return nil, fmt.Errorf("%w from %s to %s keeps the values: a cast would change them", ErrNoConversion, from, to)
	}
	return nil, fmt.Errorf("%w from %s to %s", ErrNoConversion, from, to)
}

// ConvertCast returns the conversion that a job asks for by a cast. Beyond what
// Convert does it
//
//   - reads texts, so that what comes out is canonical
//   - rounds to whole numbers and to a decimal's scale: halves away from zero
//   - takes the nearest float; for a decimal, the digits of a float's shortest text
//   - rounds seconds to the digits that the target keeps: halves to the later
//   - takes the date, or the time of day, of a timestamp (of an instant in UTC)
//   - drops the offset of TimeTZ
//   - takes 16 Bytes as a UUID, and back
//
// It never cuts a text, and what is out of range is an error here too.
func ConvertCast(from, to batch.Type) (Converter, error) {
	c, ok := conversion(from, to, true)
	if !ok {
		return nil, fmt.Errorf("%w from %s to %s", ErrNoConversion, from, to)
	}
	return c, nil
}

// conversion returns false where there is none.
func conversion(from, to batch.Type, cast bool) (Converter, bool) {
	switch {
	case isText(to.Kind):
		if from.Kind == batch.Bytes {
			return hexText, true
		}
		return nil, true
	case isText(from.Kind):
		return fromText(to, cast)
	case to.Kind == batch.JSON:
		return toJSON(from)
	case from.Kind == to.Kind && to.Kind == batch.Array:
		return betweenArrays(from, to, cast)
	case from.Kind == to.Kind:
		return narrowed(to, cast)
	}
	switch from.Kind {
	case batch.JSON:
		return fromJSON(to, cast)
	case batch.Bool:
		return fromBool(to)
	case batch.Decimal:
		return fromDecimal(to, cast)
	case batch.Bytes:
		return fromBytes(to, cast)
	case batch.Bit:
		return fromBit(to)
	case batch.Date, batch.Time, batch.TimeTZ, batch.Timestamp, batch.Instant, batch.Interval:
		return betweenTimes(from.Kind, to, cast)
	case batch.UUID:
		return uuidBytes, cast && to.Kind == batch.Bytes
	}
	switch {
	case from.Kind.IsInteger():
		return fromInteger(to, cast)
	case from.Kind.IsFloat():
		return fromFloat(bitsOf(from.Kind), to, cast)
	}
	return nil, false
}

func isText(k batch.Kind) bool {
	return k == batch.Text || k == batch.Untyped || k == batch.Named
}

func hexText(dst, cell []byte) ([]byte, error) { return AppendHex(dst, cell), nil }

func fromText(to batch.Type, cast bool) (Converter, bool) {
	switch {
	case to.Kind == batch.Bytes:
		return ParseBytes, true
	case !cast:
		return nil, true
	}
	c, err := canonical(to, true)
	return c, err == nil
}

// narrowed converts within a kind: only a cast does anything, and only where
// the target has bounds within which values can be rounded.
func narrowed(to batch.Type, cast bool) (Converter, bool) {
	rounds := to.Kind == batch.Decimal && to.Precision > 0 || to.Fraction > 0
	if !cast || !rounds {
		return nil, true
	}
	c, err := canonical(to, true)
	return c, err == nil
}
