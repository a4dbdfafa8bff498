package value

import "github.com/leatdata/leat/batch"

// arraySyntax is how an array is written.
type arraySyntax struct {
	open, close byte
	null        string
	quote       bool // elements are quoted as in a literal
	bounds      bool // bounds before the array are kept; else such arrays are refused
	flat        bool // arrays of several dimensions are refused
}

func literal() arraySyntax {
	return arraySyntax{open: '{', close: '}', null: "NULL", quote: true, bounds: true}
}

func jsonArray() arraySyntax { return arraySyntax{open: '[', close: ']', null: "null"} }

// element returns the type of an array's elements: Text where it is unknown.
// In an array, Bytes are written as \x and hexadecimal digits.
func element(t batch.Type) batch.Type {
	if t.Elem == nil {
		return batch.Of(batch.Text)
	}
	return *t.Elem
}

func betweenArrays(from, to batch.Type, cast bool) (Converter, bool) {
	f, t := element(from), element(to)
	var c Converter
	ok := true
	switch {
	case t.Kind == batch.Bytes && (isText(f.Kind) || f.Kind == batch.Bytes):
		c = elementBytes
	case f.Kind == batch.Bytes:
		ok = isText(t.Kind)
	default:
		c, ok = conversion(f, t, cast)
	}
	if c == nil || !ok {
		return nil, ok
	}
	return mapArray(c, literal()), true
}

// elementBytes reads the bytes that a text means, and writes them as hexadecimal.
func elementBytes(dst, cell []byte) ([]byte, error) {
	if !IsHex(cell) {
		return AppendHex(dst, cell), nil
	}
	start := len(dst)
	dst, err := ParseHex(dst, cell)
	if err != nil {
		return dst[:start], err
	}
	n := len(dst) - start
	dst = append(dst[:start], cell...)
	for i := start; i < start+2*n+2; i++ {
		if c := dst[i]; c >= 'A' && c <= 'F' {
			dst[i] = c | 0x20
		}
	}
	return dst, nil
}

func canonicalArray(to batch.Type, round bool) (Converter, error) {
	if t := element(to); t.Kind != batch.Bytes {
		c, err := canonical(t, round)
		if err != nil {
			return nil, err
		}
		return mapArray(c, literal()), nil
	}
	return mapArray(elementBytes, literal()), nil
}

// mapArray makes the converter that walks a literal, converts each element
// and writes the array in another syntax.
func mapArray(convert Converter, s arraySyntax) Converter {
	var a Array
	var scratch []byte
	return func(dst, cell []byte) ([]byte, error) {
		start := len(dst)
		shape, err := ArrayShape(cell)
		if err != nil {
			return dst, err
		}
		if err := a.Reset(cell); err != nil {
			return dst, err
		}
		switch {
		case s.bounds:
			dst = appendBounds(dst, &shape)
		case shape.named():
			return dst, errBounds
		case s.flat && shape.Dims > 1:
			return dst, errDimensions
		}
		comma := false
		for {
			token, err := a.Next()
			if err != nil {
				return dst[:start], err
			}
			if comma && (token == ArrayOpen || token == ArrayElement) {
				dst = append(dst, ',')
			}
			comma = token == ArrayClose || token == ArrayElement
			switch token {
			case ArrayEnd:
				return dst, nil
			case ArrayOpen:
				dst = append(dst, s.open)
			case ArrayClose:
				dst = append(dst, s.close)
			case ArrayElement:
				if a.Element() == nil {
					dst = append(dst, s.null...)
					continue
				}
				if scratch, err = convert(scratch[:0], a.Element()); err != nil {
					return dst[:start], err
				}
				if s.quote {
					dst = AppendArrayElement(dst, notNil(scratch))
				} else {
					dst = append(dst, scratch...)
				}
			}
		}
	}
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// named reports whether an index does not begin at 1.
func (s *Shape) named() bool {
	for _, lower := range s.Lower[:s.Dims] {
		if lower != 1 {
			return true
		}
	}
	return false
}

// appendBounds appends the bounds where an index does not begin at 1.
func appendBounds(dst []byte, s *Shape) []byte {
	if !s.named() {
		return dst
	}
	for i := range s.Dims {
		dst = AppendInt(append(dst, '['), int64(s.Lower[i]))
		dst = AppendInt(append(dst, ':'), int64(s.Lower[i])+int64(s.Len[i])-1)
		dst = append(dst, ']')
	}
	return append(dst, '=')
}
