package format

import "encoding/binary"

// encoder writes Thrift's compact protocol.
type encoder struct {
	dst  []byte
	last []int // the last field's id in each open structure
}

func (e *encoder) begin() { e.last = append(e.last, 0) }

func (e *encoder) end() {
	e.dst = append(e.dst, byte(wireStop))
	e.last = e.last[:len(e.last)-1]
}

func (e *encoder) field(id int, w wire) {
	last := &e.last[len(e.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		e.dst = append(e.dst, byte(delta<<4)|byte(w))
	} else {
		e.dst = append(e.dst, byte(w))
		e.varint(int64(id))
	}
	*last = id
}

func (e *encoder) varint(v int64) {
	e.dst = binary.AppendUvarint(e.dst, uint64(v<<1)^uint64(v>>63))
}

func (e *encoder) int32(id int, v int32) {
	e.field(id, wireInt32)
	e.varint(int64(v))
}

func (e *encoder) int64(id int, v int64) {
	e.field(id, wireInt64)
	e.varint(v)
}

func (e *encoder) bool(id int, v bool) {
	if v {
		e.field(id, wireTrue)
	} else {
		e.field(id, wireFalse)
	}
}

func (e *encoder) byte(id int, v byte) {
	e.field(id, wireByte)
	e.dst = append(e.dst, v)
}

func (e *encoder) bytes(id int, v []byte) {
	e.field(id, wireBinary)
	e.dst = binary.AppendUvarint(e.dst, uint64(len(v)))
	e.dst = append(e.dst, v...)
}

func (e *encoder) string(id int, v string) {
	e.field(id, wireBinary)
	e.element(v)
}

// element appends a text of a list.
func (e *encoder) element(v string) {
	e.dst = binary.AppendUvarint(e.dst, uint64(len(v)))
	e.dst = append(e.dst, v...)
}

func (e *encoder) list(id, n int, elem wire) {
	e.field(id, wireList)
	if n < 15 {
		e.dst = append(e.dst, byte(n<<4)|byte(elem))
		return
	}
	e.dst = append(e.dst, 0xf0|byte(elem))
	e.dst = binary.AppendUvarint(e.dst, uint64(n))
}

// structure begins a structure that is a field; end ends it.
func (e *encoder) structure(id int) {
	e.field(id, wireStruct)
	e.begin()
}

// empty writes a structure without fields.
func (e *encoder) empty(id int) {
	e.structure(id)
	e.end()
}
