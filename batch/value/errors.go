package value

import (
	"errors"
	"unicode/utf8"
)

// What can be wrong with a text. Each error that this package returns for a
// cell says it in its own words and is one of these by errors.Is. The words
// follow a column's name well: "price: not a whole number".
var (
	// ErrSyntax: the text is not one of the type at all.
	ErrSyntax = errors.New("not a text of this type")
	// ErrRange: the value lies outside what the type can hold.
	ErrRange = errors.New("out of range")
	// ErrPrecision: the type could hold only a rounded or cut value.
	ErrPrecision = errors.New("cannot be kept exactly")
	// ErrLength: the text, the bytes or the bits are longer, or for a fixed
	// length shorter, than the type allows.
	ErrLength = errors.New("too long")
	// ErrNoConversion: no value of the one type has a meaning in the other.
	// Convert and ConvertCast return it before any record is seen.
	ErrNoConversion = errors.New("no conversion")
)

// cellError is a static error: returning one allocates nothing.
type cellError struct {
	class error
	text  string
}

func (e *cellError) Error() string { return e.text }
func (e *cellError) Unwrap() error { return e.class }

func syntax(text string) error     { return &cellError{ErrSyntax, text} }
func outOfRange(text string) error { return &cellError{ErrRange, text} }
func inexact(text string) error    { return &cellError{ErrPrecision, text} }
func tooLong(text string) error    { return &cellError{ErrLength, text} }

var (
	errBool        = syntax("not true or false")
	errInteger     = syntax("not a whole number")
	errNumber      = syntax("not a number")
	errDate        = syntax("not a date (YYYY-MM-DD)")
	errTime        = syntax("not a time (HH:MM:SS)")
	errTimeTZ      = syntax("not a time with an offset (HH:MM:SS+HH:MM)")
	errTimestamp   = syntax("not a timestamp (YYYY-MM-DD HH:MM:SS)")
	errInstant     = syntax("not a timestamp with an offset (YYYY-MM-DD HH:MM:SS+HH:MM)")
	errNoOffset    = syntax("a timestamp without an offset from UTC, where one is needed")
	errOffset      = syntax("a timestamp with an offset from UTC, where none is kept")
	errOffsetForm  = syntax("not an offset from UTC (+HH:MM)")
	errInterval    = syntax("not an interval (P1Y2M3DT4H5M6S)")
	errUUID        = syntax("not a UUID")
	errJSON        = syntax("not JSON")
	errUTF8        = syntax("not UTF-8")
	errBit         = syntax("not a text of zeros and ones")
	errHex         = syntax(`not hexadecimal after \x`)
	errEscape      = syntax(`a backslash that does not begin \x: bytes are given as \x and hexadecimal digits`)
	errArray       = syntax("not an array literal ({1,2,3})")
	errNoJSONArray = syntax("not a JSON array")
	errSurrogate   = syntax("half of a surrogate pair stands alone")

	errRange         = outOfRange("out of range")
	errInt8          = outOfRange("out of range for int8")
	errInt16         = outOfRange("out of range for int16")
	errInt32         = outOfRange("out of range for int32")
	errInt64         = outOfRange("out of range for int64")
	errUint8         = outOfRange("out of range for uint8")
	errUint16        = outOfRange("out of range for uint16")
	errUint32        = outOfRange("out of range for uint32")
	errUint64        = outOfRange("out of range for uint64")
	errFloat32       = outOfRange("out of range for float32")
	errFloat64       = outOfRange("out of range for float64")
	errDecimalDigits = outOfRange("too many digits before the point")
	errDecimalRange  = outOfRange("out of range for a decimal number")
	errNotFinite     = outOfRange("not a finite number")
	errNoSuchDay     = outOfRange("no such day in the calendar")
	errNoSuchTime    = outOfRange("no such time of day")
	errDateRange     = outOfRange("out of range for a date")
	errTimeRange     = outOfRange("out of range for a time")
	errTimestampRng  = outOfRange("out of range for a timestamp")
	errOffsetRange   = outOfRange("no such offset from UTC")
	errIntervalRange = outOfRange("out of range for an interval")
	errBoolNumber    = outOfRange("neither 0 nor 1, so not true or false")
	errNegativeBits  = outOfRange("negative, so without a text of bits")

	errFraction   = inexact("finer than a microsecond")
	errFinest     = inexact("finer than a nanosecond")
	errSeconds    = inexact("a finer fraction of a second than the column keeps")
	errScale      = inexact("more digits after the point than the column keeps")
	errNotWhole   = inexact("has digits after the point, where whole numbers are kept")
	errNotFloat32 = inexact("has no exact float32")
	errNotFloat64 = inexact("has no exact float64")
	errNotExact   = inexact("has no short exact decimal, only a rounded one")
	errHasTime    = inexact("not at midnight, where only a date is kept")
	errHasOffset  = inexact("has an offset from UTC, where none is kept")
	errBounds     = inexact("an array whose indexes do not begin at 1, which JSON cannot tell")
	errDimensions = inexact("an array of several dimensions of JSON, which could not be told from JSON arrays within it")
	errHasDays    = inexact("has days or months, where only a time is kept")

	errTextLength  = tooLong("more characters than the column keeps")
	errBytesLength = tooLong("more bytes than the column keeps")
	errBitLength   = tooLong("not as many bits as the column keeps")
	errUUIDLength  = tooLong("not the 16 bytes of a UUID")
)

// quoted is how much of a text Quote shows.
const quoted = 40

// Quote returns the text in double quotes for a message: control characters
// and bytes that are not UTF-8 escaped, and cut after some 40 bytes.
func Quote(b []byte) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, quoted+16)
	out = append(out, '"')
	for i := 0; i < len(b); {
		if i >= quoted {
			return string(append(out, "…\""...))
		}
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1, r < ' ', r == 0x7f:
			out = append(out, '\\', 'x', hex[b[i]>>4], hex[b[i]&15])
		case r == '"', r == '\\':
			out = append(out, '\\', byte(r))
		default:
			out = append(out, b[i:i+n]...)
		}
		i += n
	}
	return string(append(out, '"'))
}
