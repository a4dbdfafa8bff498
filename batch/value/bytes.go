package value

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// unhex returns the value of a hexadecimal digit, more than 15 for other characters.
func unhex(c byte) byte {
	if d := c - '0'; d < 10 {
		return d
	}
	if d := c | 0x20 - 'a'; d < 6 {
		return d + 10
	}
	return 255
}

// AppendHex appends bytes as a text: \x and two hexadecimal digits for each.
func AppendHex(dst, b []byte) []byte {
	dst = slices.Grow(dst, 2+2*len(b))
	dst = append(dst, '\\', 'x')
	for _, c := range b {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// IsHex reports whether a text begins as AppendHex writes bytes: with \x.
func IsHex(b []byte) bool { return len(b) >= 2 && b[0] == '\\' && b[1] == 'x' }

// ParseHex appends to dst the bytes that a text of AppendHex means. Digits of
// both cases are fine; anything else is ErrSyntax, and dst is returned as it was.
func ParseHex(dst, b []byte) ([]byte, error) {
	if !IsHex(b) || len(b)%2 != 0 {
		return dst, errHex
	}
	n := len(dst)
	dst = slices.Grow(dst, len(b)/2-1)
	for i := 2; i < len(b); i += 2 {
		high, low := unhex(b[i]), unhex(b[i+1])
		if high > 15 || low > 15 {
			return dst[:n], errHex
		}
		dst = append(dst, high<<4|low)
	}
	return dst, nil
}

// ParseBytes appends to dst the bytes that a text means: those of its
// hexadecimal digits after \x, without \x its own. Other backslashes are
// ErrSyntax: PostgreSQL's escape format and MySQL's mean other bytes by them.
func ParseBytes(dst, b []byte) ([]byte, error) {
	if IsHex(b) {
		return ParseHex(dst, b)
	}
	if bytes.IndexByte(b, '\\') >= 0 {
		return dst, errEscape
	}
	return append(dst, b...), nil
}

// ValidUTF8 reports whether a text is UTF-8.
func ValidUTF8(b []byte) bool { return utf8.Valid(b) }
