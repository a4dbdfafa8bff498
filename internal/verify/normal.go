package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// normal brings cells of one type into the one text that stands for their
// value in the target's type, whichever side they are read from.
type normal struct {
	convert value.Converter
	check   value.Converter
	scratch []byte
}

// newNormal returns the conversion from a side's type to the target's.
func newNormal(from, to batch.Type) (*normal, error) {
	convert, err := value.Convert(from, to)
	if err != nil {
		return nil, err
	}
	check, err := value.Canonical(to)
	if err != nil {
		return nil, err
	}
	if to.Kind == batch.JSON {
		check = normalJSON
	}
	return &normal{convert: convert, check: check}, nil
}

// append appends a cell's normal text.
func (n *normal) append(dst, cell []byte) (out []byte, err error) {
	if n.convert != nil {
		if n.scratch, err = n.convert(n.scratch[:0], cell); err != nil {
			return dst, err
		}
		cell = n.scratch
	}
	return n.check(dst, cell)
}

var errJSON = errors.New("not one JSON value")

// normalJSON appends a JSON text without spaces, with its names sorted and
// numbers without exponents, for databases keep a value and not its text.
func normalJSON(dst, cell []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(cell))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return dst, errJSON
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return dst, errJSON
	}
	text, err := json.Marshal(plainNumbers(v))
	if err != nil {
		return dst, errJSON
	}
	return append(dst, text...), nil
}

// plainNumbers replaces numbers with exponents by their digits, as jsonb does.
func plainNumbers(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, inner := range x {
			x[k] = plainNumbers(inner)
		}
	case []any:
		for i, inner := range x {
			x[i] = plainNumbers(inner)
		}
	case json.Number:
		if !strings.ContainsAny(string(x), "eE") {
			return x
		}
		if d, err := value.SplitDecimal([]byte(x)); err == nil {
			return json.Number(value.AppendDecimal(nil, &d))
		}
	}
	return v
}
