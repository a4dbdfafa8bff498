package jsonl

import (
	"github.com/leatdata/leat/batch"
	cells "github.com/leatdata/leat/batch/value"
)

// arrayEncoder writes arrays of whatever dimensions, each element as a value of
// its type. Bounds of their own have no place in JSON.
type arrayEncoder struct {
	element appender
	json    bool
	walk    cells.Array
}

func arrayAppender(t batch.Type) appender {
	e := &arrayEncoder{element: appendString}
	if t.Elem != nil && t.Elem.Kind != batch.Bytes { // bytes are \x and digits in an array
		e.element = appenderOf(*t.Elem)
		e.json = t.Elem.Kind == batch.JSON
	}
	return e.append
}

func (e *arrayEncoder) append(dst, cell []byte) ([]byte, string) {
	if len(cell) > 0 && cell[0] == '[' {
		return dst, "is an array with bounds of its own, which JSON cannot tell"
	}
	if e.json && len(cell) > 1 && cell[1] == '{' {
		return dst, "is an array of several dimensions, which could not be told from JSON arrays within it"
	}
	_, err := cells.ArrayShape(cell)
	if err == nil {
		err = e.walk.Reset(cell)
	}
	if err != nil {
		return dst, err.Error()
	}
	for comma := false; ; {
		token, err := e.walk.Next()
		if err != nil {
			return dst, err.Error()
		}
		if comma && (token == cells.ArrayOpen || token == cells.ArrayElement) {
			dst = append(dst, ',')
		}
		comma = token == cells.ArrayClose || token == cells.ArrayElement
		switch token {
		case cells.ArrayEnd:
			return dst, ""
		case cells.ArrayOpen:
			dst = append(dst, '[')
		case cells.ArrayClose:
			dst = append(dst, ']')
		case cells.ArrayElement:
			element := e.walk.Element()
			if element == nil {
				dst = append(dst, "null"...)
				continue
			}
			var fault string
			if dst, fault = e.element(dst, element); fault != "" {
				return dst, "holds an element that " + fault
			}
		}
	}
}
