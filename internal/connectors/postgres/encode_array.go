package postgres

import (
	"encoding/binary"

	"github.com/leatdata/leat/batch/value"
)

// appendArray sends an array literal: its dimensions, then the elements, each
// with its length.
func appendArray(e *encoder, dst, cell []byte) ([]byte, error) {
	shape, err := value.ArrayShape(cell)
	if err != nil {
		return dst, err
	}
	if err := e.array.Reset(cell); err != nil {
		return dst, err
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(shape.Dims))
	flags := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.elem.oid))
	for i := range shape.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(shape.Len[i]))
		dst = binary.BigEndian.AppendUint32(dst, uint32(shape.Lower[i]))
	}
	for {
		token, err := e.array.Next()
		switch {
		case err != nil:
			return dst, err
		case token == value.ArrayEnd:
			return dst, nil
		case token != value.ArrayElement:
			continue
		}
		elem := e.array.Element()
		if elem == nil {
			binary.BigEndian.PutUint32(dst[flags:], 1)
		}
		if dst, err = e.elem.appendCell(dst, elem); err != nil {
			return dst, err
		}
	}
}

// appendCell appends a cell with its length before it; nil is NULL.
func (e *encoder) appendCell(dst, cell []byte) ([]byte, error) {
	at := len(dst)
	if cell == nil {
		return append(dst, 0xff, 0xff, 0xff, 0xff), nil
	}
	dst, err := e.append(e, append(dst, 0, 0, 0, 0), cell)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, err
}
