package postgres

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/leatdata/leat/batch"
)

var (
	errTuple       = errors.New("a row of binary COPY does not end as one")
	errTupleFields = errors.New("a row of binary COPY has another number of columns than were asked for")
)

// packing is COPY's binary form of rows with some columns. A packed row is its
// tuple: the number of fields, then each field's length and value.
type packing struct {
	columns  []column
	decoders []wireDecoder
}

// newPacking returns the packing of rows of these columns, nil when the wire
// form of one of them is not known here.
func newPacking(columns []column) *packing {
	p := &packing{columns: columns, decoders: make([]wireDecoder, len(columns))}
	for i, c := range columns {
		if p.decoders[i] = wireDecoderOf(c.typ); p.decoders[i] == nil {
			return nil
		}
	}
	return p
}

// field returns field i of a tuple, nil for NULL.
func (p *packing) field(row []byte, i int) []byte {
	at := 2
	for ; ; i-- {
		n := int32(binary.BigEndian.Uint32(row[at:]))
		at += 4
		switch {
		case i > 0 && n < 0:
		case i > 0:
			at += int(n)
		case n < 0:
			return nil
		default:
			return row[at : at+int(n) : at+int(n)]
		}
	}
}

// tuple returns the length of the tuple that data starts with, and how many
// bytes of it are values.
func (p *packing) tuple(data []byte) (length, payload int, err error) {
	if len(data) < 2 {
		return 0, 0, errTuple
	}
	if int(binary.BigEndian.Uint16(data)) != len(p.columns) {
		return 0, 0, errTupleFields
	}
	at := 2
	for range p.columns {
		if len(data)-at < 4 {
			return 0, 0, errTuple
		}
		n := int(int32(binary.BigEndian.Uint32(data[at:])))
		at += 4
		if n < 0 {
			continue
		}
		if n > len(data)-at {
			return 0, 0, errTuple
		}
		at += n
		payload += n
	}
	return at, payload, nil
}

// Cells implements batch.Packing. A value that is no text of its type is given
// by its bytes.
func (p *packing) Cells(row []byte) [][]byte {
	cells := make([][]byte, len(p.columns))
	for i := range cells {
		wire := p.field(row, i)
		if wire == nil {
			continue
		}
		cell, err := p.decoders[i]([]byte{}, wire)
		if err != nil {
			cell = append([]byte{}, wire...)
		}
		cells[i] = cell
	}
	return cells
}

// key returns the columns of a row that are the key, as texts for the server.
func (p *packing) key(row []byte, keys []column) ([]string, error) {
	key := make([]string, len(keys))
	for i, k := range keys {
		at := slices.IndexFunc(p.columns, func(c column) bool { return c.name == k.name })
		cell, err := p.decoders[at]([]byte{}, p.field(row, at))
		if err != nil {
			return nil, err
		}
		key[i] = keyText(conversionOf(k.typ), cell)
	}
	return key, nil
}

// has reports whether all of these columns are in the rows.
func (p *packing) has(columns []column) bool {
	for _, c := range columns {
		if !slices.ContainsFunc(p.columns, func(o column) bool { return o.name == c.name }) {
			return false
		}
	}
	return true
}

// passes reports whether values of a column in binary COPY become the same in
// another as by way of their texts: the types are the same, and what bounds
// the second bounds the first as well, so that the server need refuse nothing
// that is found here otherwise.
func passes(from, to *column) bool {
	f, fromMod := from.typ.under(from.mod)
	t, toMod := to.typ.under(to.mod)
	switch {
	case to.notNull && !from.notNull:
		return false
	case f.kind == 'e' && t.kind == 'e':
		// One number may be two enums in two databases.
		return !slices.ContainsFunc(slices.Collect(maps.Keys(f.labels)), func(l string) bool { _, ok := t.labels[l]; return !ok })
	case f.oid == t.oid:
		return toMod < 0 || toMod == fromMod
	case t.oid == oidText || t.oid == oidVarchar && toMod < 0:
		return f.oid == oidText || f.oid == oidVarchar || f.oid == oidBpchar || f.kind == 'e'
	}
	return false
}

var _ batch.Packing = (*packing)(nil)
