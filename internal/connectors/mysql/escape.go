package mysql

import "encoding/binary"

// appendEscaped appends a cell as it stands in a file for LOAD DATA. What is
// special there or within a quoted literal is escaped by a backslash, so that
// a field is, between quotes, also a literal of SQL.
func appendEscaped(dst, cell []byte) []byte {
	for {
		n := plainLength(cell)
		dst = append(dst, cell[:n]...)
		if n == len(cell) {
			return dst
		}
		switch c := cell[n]; c {
		case 0:
			dst = append(dst, '\\', '0')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', c)
		}
		cell = cell[n+1:]
	}
}

// escapedLength returns the length of what appendEscaped appends.
func escapedLength(cell []byte) int {
	n := len(cell)
	for {
		plain := plainLength(cell)
		if plain == len(cell) {
			return n
		}
		n++
		cell = cell[plain+1:]
	}
}

// plainLength returns how many bytes come before the first that is special:
// zero, tab, line end, quote or backslash.
func plainLength(cell []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(cell)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(cell[n:])
		quote, slash := w^(ones*'\''), w^(ones*'\\')
		// A byte below '\n'+1, or one that is zero in quote or slash.
		if ((w-ones*('\n'+1))&^w|(quote-ones)&^quote|(slash-ones)&^slash)&highs != 0 {
			break
		}
	}
	for ; n < len(cell); n++ {
		switch cell[n] {
		case 0, '\t', '\n', '\'', '\\':
			return n
		}
	}
	return n
}

// fieldForm is how a field of a row is to be taken.
type fieldForm uint8

// The forms: a text of a number, a date and the like; characters, which a file
// that counts as bytes needs to have said of them where the column's are others
// than UTF-8; bytes that are no text.
const (
	fieldPlain fieldForm = iota
	fieldText
	fieldBytes
)
