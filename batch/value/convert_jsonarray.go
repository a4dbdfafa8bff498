package value

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
)

// fromJSON converts to arrays only; texts take JSON as it is.
func fromJSON(to batch.Type, cast bool) (Converter, bool) {
	if to.Kind != batch.Array {
		return nil, false
	}
	check, err := canonicalArray(to, cast)
	if err != nil {
		return nil, false
	}
	read := JSONArray(to, nil)
	var scratch []byte
	return func(dst, cell []byte) ([]byte, error) {
		var err error
		if scratch, err = read(scratch[:0], cell); err != nil {
			return dst, err
		}
		return check(dst, scratch)
	}, true
}

// JSONArray returns what writes a JSON array as the literal of an array of
// type to: {1,NULL,"a b"}. Objects in it become their JSON text; where the
// elements are JSON themselves so does each, also a string or an array. Strings
// for elements that are Bytes are read by bytes, which may be nil where they
// are hexadecimal digits already. What is no JSON array is ErrSyntax.
func JSONArray(to batch.Type, bytes Converter) Converter {
	r := jsonArrayReader{elem: element(to).Kind}
	if r.elem == batch.Bytes {
		r.bytes = bytes
	}
	return func(dst, cell []byte) ([]byte, error) {
		rest := jsonSpace(cell)
		if len(rest) == 0 || rest[0] != '[' || !ValidJSON(cell) {
			return dst, errNoJSONArray
		}
		start := len(dst)
		dst, _, err := r.array(dst, rest)
		if err != nil {
			return dst[:start], err
		}
		return dst, nil
	}
}

// jsonArrayReader walks through JSON that is known to be valid.
type jsonArrayReader struct {
	elem    batch.Kind
	bytes   Converter
	text    []byte
	scratch []byte
}

// array appends the array that b begins with, and returns what follows it.
func (r *jsonArrayReader) array(dst, b []byte) (_, rest []byte, err error) {
	dst = append(dst, '{')
	b = jsonSpace(b[1:])
	for first := true; b[0] != ']'; first = false {
		if !first {
			dst = append(dst, ',')
			b = jsonSpace(b[1:]) // the comma
		}
		if b[0] == '[' && r.elem != batch.JSON {
			dst, b, err = r.array(dst, b)
		} else {
			n := jsonLength(b)
			dst, err = r.element(dst, b[:n:n])
			b = b[n:]
		}
		if err != nil {
			return dst, b, err
		}
		b = jsonSpace(b)
	}
	return append(dst, '}'), b[1:], nil
}

// element appends a value that is no array of its own.
func (r *jsonArrayReader) element(dst, text []byte) ([]byte, error) {
	switch {
	case text[0] == 'n':
		return AppendArrayElement(dst, nil), nil
	case text[0] != '"' || r.elem == batch.JSON:
		return AppendArrayElement(dst, text), nil
	}
	var err error
	if r.text, err = unquoteJSON(r.text[:0], text[1:len(text)-1]); err != nil {
		return dst, err
	}
	if r.bytes == nil {
		return AppendArrayElement(dst, notNil(r.text)), nil
	}
	if r.scratch, err = r.bytes(r.scratch[:0], r.text); err != nil {
		return dst, err
	}
	return AppendArrayElement(dst, notNil(r.scratch)), nil
}

// jsonSpace leaves out spaces at the start.
func jsonSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// jsonLength is the length of the value that b begins with.
func jsonLength(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '[', c == '{':
			depth++
		case depth == 0 && (c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return i
		case c == ']', c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// unquoteJSON appends the text that a string's inner part means. Half a
// surrogate pair, which JSON lets pass, is no text.
func unquoteJSON(dst, b []byte) ([]byte, error) {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			dst = append(dst, b[i])
			continue
		}
		i++
		switch c := b[i]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			char := jsonUnit(b[i+1:])
			i += 4
			if utf16.IsSurrogate(char) {
				if len(b) < i+7 || b[i+1] != '\\' || b[i+2] != 'u' {
					return dst, errSurrogate
				}
				if char = utf16.DecodeRune(char, jsonUnit(b[i+3:])); char == utf8.RuneError {
					return dst, errSurrogate
				}
				i += 6
			}
			dst = utf8.AppendRune(dst, char)
		default:
			dst = append(dst, c)
		}
	}
	return dst, nil
}

// jsonUnit reads four hexadecimal digits.
func jsonUnit(b []byte) rune {
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
