package jsonl

import (
	"encoding/binary"
	"math/bits"
)

// kind is what a JSON value is.
type kind uint8

const (
	isNull kind = 1 << iota
	isBool
	isNumber
	isString
	isNested // an object or an array
)

// What is wrong with a line, where two look for it.
const (
	noObject = "the line is no JSON object"
	noName   = "a name in quotes is expected"
	noEnd    = "a comma or the end is expected"
	tooMuch  = "more follows the object"
)

// maxDepth bounds how deep a value may be nested.
const maxDepth = 512

// value is a JSON value found in a text: its range, without the quotes of a
// string.
type value struct {
	kind       kind
	start, end int
	escaped    bool // a string that holds a backslash
}

// scanner finds the values of one line. It checks all that JSON demands but
// that strings are UTF-8, which who reads the files has checked.
type scanner struct {
	data  []byte
	pos   int
	fault string // what is wrong at pos
}

func (s *scanner) fail(fault string) bool {
	s.fault = fault
	return false
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// value reads the value at pos, which is no space.
func (s *scanner) value(v *value, depth int) bool {
	v.start, v.escaped = s.pos, false
	switch c := s.peek(); {
	case c == '"':
		v.kind = isString
		s.pos++
		v.start = s.pos
		ok := s.string(&v.escaped)
		v.end = s.pos - 1
		return ok
	case c == '-' || c >= '0' && c <= '9':
		v.kind = isNumber
		ok := s.number()
		v.end = s.pos
		return ok
	case c == '{' || c == '[':
		v.kind = isNested
		ok := s.nested(c, depth)
		v.end = s.pos
		return ok
	case c == 't':
		v.kind = isBool
		return s.word(v, "true")
	case c == 'f':
		v.kind = isBool
		return s.word(v, "false")
	case c == 'n':
		v.kind = isNull
		return s.word(v, "null")
	case s.pos >= len(s.data):
		return s.fail("the line ends where a value is expected")
	}
	return s.fail("no JSON value begins so")
}

func (s *scanner) word(v *value, word string) bool {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return s.fail("no JSON value begins so")
	}
	s.pos += len(word)
	v.end = s.pos
	return true
}

// number reads what JSON's grammar calls a number.
func (s *scanner) number() bool {
	n := numberLength(s.data[s.pos:])
	if n == 0 {
		return s.fail("is not a JSON number")
	}
	s.pos += n
	return true
}

// numberLength returns the length of the number at the start of b, 0 when
// there is none or it does not end where a number can.
func numberLength(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	n := digits(b[i:])
	if n == 0 || n > 1 && b[i] == '0' {
		return 0
	}
	i += n
	if i < len(b) && b[i] == '.' {
		n = digits(b[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n = digits(b[i:])
		if n == 0 {
			return 0
		}
		i += n
	}
	return i
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

// nested reads an object or an array.
func (s *scanner) nested(open byte, depth int) bool {
	if depth >= maxDepth {
		return s.fail("is nested deeper than 512 levels")
	}
	s.pos++
	s.space()
	end := open + 2 // ] and } stand two after [ and {
	if s.peek() == end {
		s.pos++
		return true
	}
	for {
		if open == '{' && !s.name() {
			return false
		}
		var v value
		if !s.value(&v, depth+1) {
			return false
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case end:
			s.pos++
			return true
		default:
			return s.fail(noEnd)
		}
	}
}

// name reads a name within a nested object, and the colon after it.
func (s *scanner) name() bool {
	if s.peek() != '"' {
		return s.fail(noName)
	}
	s.pos++
	var escaped bool
	return s.string(&escaped) && s.colon()
}

func (s *scanner) colon() bool {
	s.space()
	if s.peek() != ':' {
		return s.fail("a colon is expected")
	}
	s.pos++
	s.space()
	return true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks in the high bits the bytes of x that are a quote, a backslash
// or a control character; above the lowest mark there may be wrong ones.
func special(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x) & highs
}

// string reads on to after the closing quote.
func (s *scanner) string(escaped *bool) bool {
	for {
		for s.pos+8 <= len(s.data) {
			mask := special(binary.LittleEndian.Uint64(s.data[s.pos:]))
			if mask != 0 {
				s.pos += bits.TrailingZeros64(mask) / 8
				break
			}
			s.pos += 8
		}
		for s.pos < len(s.data) && s.data[s.pos] >= ' ' && s.data[s.pos] != '"' && s.data[s.pos] != '\\' {
			s.pos++
		}
		switch {
		case s.pos >= len(s.data):
			return s.fail("the line ends within a string")
		case s.data[s.pos] == '"':
			s.pos++
			return true
		case s.data[s.pos] != '\\':
			return s.fail("a control character stands in a string as it is")
		}
		*escaped = true
		if !s.escape() {
			return false
		}
	}
}

// escape checks what follows a backslash. A half of a surrogate pair has no
// meaning by itself, and no place in UTF-8.
func (s *scanner) escape() bool {
	if s.pos+1 >= len(s.data) {
		return s.fail("the line ends within a string")
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		r, ok := hex4(s.data, s.pos+2)
		if !ok {
			return s.fail(`\u wants four hexadecimal digits`)
		}
		n := 6
		if r >= 0xd800 && r < 0xe000 {
			low, ok := secondHalf(s.data, s.pos+6)
			if r >= 0xdc00 || !ok || low < 0xdc00 || low >= 0xe000 {
				return s.fail("half of a surrogate pair stands alone")
			}
			n = 12
		}
		s.pos += n
		return true
	}
	return s.fail("there is no such escape")
}

func secondHalf(data []byte, at int) (rune, bool) {
	if at+1 >= len(data) || data[at] != '\\' || data[at+1] != 'u' {
		return 0, false
	}
	return hex4(data, at+2)
}

// hex4 reads four hexadecimal digits.
func hex4(data []byte, at int) (rune, bool) {
	if at+4 > len(data) {
		return 0, false
	}
	var r rune
	for _, c := range data[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
