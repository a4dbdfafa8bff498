package value

import "github.com/leatdata/leat/batch"

// toJSON converts from any kind but texts, whose text is the JSON itself.
func toJSON(from batch.Type) (Converter, bool) {
	switch k := from.Kind; {
	case k == batch.Array:
		return arrayJSON(from)
	case k == batch.Bytes:
		return nil, false
	case k == batch.JSON, k == batch.Bool, k.IsInteger():
		return nil, true
	case k == batch.Decimal, k.IsFloat():
		return numberJSON, true
	}
	return stringJSON, true
}

// numberJSON refuses the numbers that JSON lacks.
func numberJSON(dst, cell []byte) ([]byte, error) {
	d, err := SplitDecimal(cell)
	switch {
	case err != nil:
		return dst, err
	case d.Special != Finite:
		return dst, errNotFinite
	}
	return append(dst, cell...), nil
}

func stringJSON(dst, cell []byte) ([]byte, error) { return AppendJSONString(dst, cell) }

// AppendJSONString appends a text as a JSON string. Only what JSON demands is
// escaped; a text that is not UTF-8 is ErrSyntax.
func AppendJSONString(dst, text []byte) ([]byte, error) {
	if !ValidUTF8(text) {
		return dst, errUTF8
	}
	dst = append(dst, '"')
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		dst = AppendJSONEscape(dst, c)
	}
	return append(append(dst, text[from:]...), '"'), nil
}

// AppendJSONEscape appends a byte that JSON allows in strings only escaped: a
// quote, a backslash or one below space.
func AppendJSONEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// arrayJSON writes an array as JSON's, its elements as toJSON and texts as strings.
func arrayJSON(from batch.Type) (Converter, bool) {
	element := Converter(stringJSON)
	if from.Elem != nil && !isText(from.Elem.Kind) && from.Elem.Kind != batch.Bytes {
		c, ok := toJSON(*from.Elem)
		if !ok {
			return nil, false
		}
		element = c
		if c == nil {
			element = copyCell
		}
	}
	syntax := jsonArray()
	syntax.flat = from.Elem != nil && from.Elem.Kind == batch.JSON // else an array within would be taken for JSON's
	return mapArray(element, syntax), true
}
