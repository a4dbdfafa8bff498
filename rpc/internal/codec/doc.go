// Package codec turns Go structs into bytes and back, so that both ends may be
// of different releases.
//
// The bytes are those of the Protocol Buffers encoding: a sequence of fields,
// each a key (number<<3 | wire type) and a value. A field's number stands in its
// tag, `rpc:"3"`, and is never used for anything else again. A field the reader
// does not know is skipped; one that is missing keeps its zero value; zero
// values are not written. A pointer tells a zero from nothing.
//
//	bool, intN, uintN, Duration  varint (signed ones zigzag)
//	float64, float32             8 or 4 bytes, little endian
//	string, []byte, [N]byte      length and bytes
//	struct, time.Time            length and fields (time: seconds, nanoseconds, read back as UTC)
//	encoding.BinaryMarshaler     length and its bytes
//	[]T                          numbers packed into one value, others repeated
//	map[K]V                      repeated entries with the fields 1 and 2, sorted
//
// A nil slice or map and an empty one are the same.
package codec
