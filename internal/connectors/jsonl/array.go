package jsonl

import (
	"fmt"

	"github.com/leatdata/leat/batch"
	cells "github.com/leatdata/leat/batch/value"
)

// arrayLiteral returns what writes a JSON array as an array literal:
// {1,NULL,"a b"}. Objects in it become their JSON text; where the elements are
// JSON themselves so does each, also a string or an array, and strings for
// bytes are read as anywhere. A text that is no JSON array stays as it is: it
// may be a literal itself.
func arrayLiteral(t batch.Type) cells.Converter {
	elem := batch.Text
	if t.Elem != nil {
		elem = t.Elem.Kind
	}
	return func(dst, text []byte) ([]byte, error) {
		if len(text) == 0 || text[0] != '[' {
			return append(dst, text...), nil
		}
		s := scanner{data: text}
		var v value
		if !s.value(&v, 0) || s.pos < len(text) {
			return append(dst, text...), nil
		}
		s.pos = 0
		out, ok := appendArray(dst, &s, elem)
		if !ok {
			return dst, fmt.Errorf("%s: %w", s.fault, cells.ErrSyntax)
		}
		return out, nil
	}
}

// arrayThen reads an array and makes it canonical.
func arrayThen(read, check cells.Converter) cells.Converter {
	var scratch []byte
	return func(dst, text []byte) ([]byte, error) {
		var err error
		if scratch, err = read(scratch[:0], text); err != nil {
			return dst, err
		}
		return check(dst, scratch)
	}
}

// appendArray appends the array at the scanner's place, which is a bracket,
// for elements of a kind.
func appendArray(dst []byte, s *scanner, elem batch.Kind) ([]byte, bool) {
	s.pos++
	dst = append(dst, '{')
	for first := true; ; first = false {
		s.space()
		if s.peek() == ']' {
			s.pos++
			return append(dst, '}'), true
		}
		if !first {
			s.pos++ // the comma: all of it was checked before
			s.space()
			dst = append(dst, ',')
		}
		if s.peek() == '[' && elem != batch.JSON {
			var ok bool
			if dst, ok = appendArray(dst, s, elem); !ok {
				return dst, false
			}
			continue
		}
		var v value
		if !s.value(&v, 0) {
			return dst, false
		}
		text, err := elementText(s, v, elem)
		switch {
		case err != nil:
			return dst, s.fail(err.Error())
		case v.kind == isNull:
			dst = append(dst, "NULL"...)
		default:
			dst = cells.AppendArrayElement(dst, text)
		}
	}
}

// elementText returns the text of an array's element for its kind.
func elementText(s *scanner, v value, elem batch.Kind) ([]byte, error) {
	text := s.data[v.start:v.end]
	if v.kind != isString {
		return text, nil
	}
	if elem == batch.JSON {
		return s.data[v.start-1 : v.end+1], nil
	}
	if v.escaped {
		text = append([]byte(nil), text...)
		text = text[:unescape(text)]
	}
	if elem == batch.Bytes {
		return hexOf(nil, text)
	}
	return text, nil
}
