package jsonl

import (
	"github.com/leatdata/leat/batch"
	cells "github.com/leatdata/leat/batch/value"
)

// arrayLiteral returns what writes a JSON array as an array literal:
// {1,NULL,"a b"}; strings for bytes are read as anywhere. A text that is no JSON
// array stays as it is: it may be a literal itself.
func arrayLiteral(t batch.Type) cells.Converter {
	read := cells.JSONArray(t, hexOf)
	return func(dst, text []byte) ([]byte, error) {
		out, err := read(dst, text)
		if err != nil && !cells.ValidJSON(text) {
			return append(dst, text...), nil
		}
		return out, err
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
