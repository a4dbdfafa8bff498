package format

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// wire is a type of Thrift's compact protocol.
type wire byte

const (
	wireStop wire = iota
	wireTrue
	wireFalse
	wireByte
	wireInt16
	wireInt32
	wireInt64
	wireDouble
	wireBinary
	wireList
	wireSet
	wireMap
	wireStruct
)

// maxDepth bounds how deep skipped structures may nest.
const maxDepth = 32

var errThrift = errors.New("its metadata is broken")

// decoder reads Thrift's compact protocol. The first error stays, and
// everything read after it is zero.
type decoder struct {
	data []byte
	pos  int
	err  error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w at byte %d of it: %s", errThrift, d.pos, what)
	}
	d.pos = len(d.data)
}

func (d *decoder) rest() int { return len(d.data) - d.pos }

func (d *decoder) byte() byte {
	if d.rest() == 0 {
		d.fail("it ends early")
		return 0
	}
	d.pos++
	return d.data[d.pos-1]
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data[d.pos:])
	if n <= 0 {
		d.fail("a number has no end")
		return 0
	}
	d.pos += n
	return v
}

func (d *decoder) int64() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) int32() int32 {
	v := d.int64()
	if v != int64(int32(v)) {
		d.fail("a number is too large")
		return 0
	}
	return int32(v)
}

// bytes returns a range of the data.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(d.rest()) {
		d.fail("a text is longer than what is there")
		return nil
	}
	d.pos += int(n)
	return d.data[d.pos-int(n) : d.pos : d.pos]
}

func (d *decoder) string() string { return string(d.bytes()) }

// fields calls known for each field of a structure. It reads the value and
// returns true, or returns false and has it skipped.
func (d *decoder) fields(known func(id int, w wire) bool) {
	d.fieldsAt(0, known)
}

func (d *decoder) fieldsAt(depth int, known func(id int, w wire) bool) {
	if depth > maxDepth {
		d.fail("it nests too deep")
	}
	id := 0
	for d.err == nil {
		b := d.byte()
		w := wire(b & 15)
		if w == wireStop {
			return
		}
		if delta := int(b >> 4); delta > 0 {
			id += delta
		} else {
			id = int(int16(d.int64()))
		}
		if d.err == nil && !known(id, w) {
			d.skip(w, depth)
		}
	}
}

// list reads a list's head. An element has at least one byte.
func (d *decoder) list() (n int, elem wire) {
	b := d.byte()
	size := uint64(b >> 4)
	if size == 15 {
		size = d.uvarint()
	}
	if size > uint64(d.rest()) {
		d.fail("a list is longer than what is there")
		return 0, 0
	}
	return int(size), wire(b & 15)
}

func (d *decoder) skip(w wire, depth int) {
	switch w {
	case wireTrue, wireFalse:
	case wireByte:
		d.byte()
	case wireInt16, wireInt32, wireInt64:
		d.uvarint()
	case wireDouble:
		if d.rest() < 8 {
			d.fail("it ends early")
			return
		}
		d.pos += 8
	case wireBinary:
		d.bytes()
	case wireList, wireSet:
		n, elem := d.list()
		for i := 0; i < n && d.err == nil; i++ {
			d.skipElement(elem, depth+1)
		}
	case wireMap:
		d.skipMap(depth)
	case wireStruct:
		d.fieldsAt(depth+1, func(int, wire) bool { return false })
	default:
		d.fail("it holds a value of an unknown kind")
	}
}

// skipElement skips what stands in a list, where a bool has a byte of its own.
func (d *decoder) skipElement(w wire, depth int) {
	switch {
	case depth > maxDepth:
		d.fail("it nests too deep")
	case w == wireTrue || w == wireFalse:
		d.byte()
	default:
		d.skip(w, depth)
	}
}

func (d *decoder) skipMap(depth int) {
	n := d.uvarint()
	if n > uint64(d.rest()) {
		d.fail("a map is longer than what is there")
		return
	}
	if n == 0 {
		return
	}
	kinds := d.byte()
	for i := uint64(0); i < n && d.err == nil; i++ {
		d.skipElement(wire(kinds>>4), depth+1)
		d.skipElement(wire(kinds&15), depth+1)
	}
}
