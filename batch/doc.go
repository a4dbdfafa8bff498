// Package batch holds records in memory: a Schema of typed Fields, and a
// Batch of at most some thousand records of it.
//
// # Representation
//
// A cell is a byte range (Span) in a buffer that its column shares with its
// neighbours; a span of length -1 is NULL, and of length 0 the empty value:
// the two are never mixed up. Readers fill the buffer in place (a CSV chunk
// is read straight into it), so a record costs no allocation. A Column says
// how to find its spans: Stride 1 for a column of its own, the number of
// fields for row-major spans cut from a text chunk, 0 for a constant.
//
// # Cell texts
//
// The bytes of a cell are the canonical text of its field's Type. For an
// Untyped field they are whatever text the source held, which the target's
// type then has to parse. The canonical texts:
//
//	Bool        true, false
//	Int8-Uint64 decimal digits, a minus sign where negative, no leading zeros
//	Float32/64  shortest text that parses back to the same bits; NaN, Infinity, -Infinity
//	Decimal     digits, with as many after the point as the value has (scale is kept: 7.10); NaN, Infinity, -Infinity
//	Text        UTF-8, as it is
//	Bytes       the bytes themselves
//	Date        2024-01-31; years of more digits as they are; 0044-03-15 BC; infinity, -infinity; 0000-00-00 (MySQL's zero date)
//	Time        13:05:00.123456, trailing zeros of the fraction dropped; hours may pass 24 and be negative (MySQL)
//	TimeTZ      as Time, then the offset: +05:30
//	Timestamp   2024-01-31 13:05:00.123456: a wall-clock time, of no zone
//	Instant     as Timestamp, in UTC, then +00: a moment
//	Interval    ISO 8601: P1Y2M3DT4H5M6.7S
//	UUID        lower-case hexadecimal with hyphens
//	JSON        the JSON text, as it is
//	Bit         one 0 or 1 per bit
//	Array       PostgreSQL's array literal: {1,NULL,"a b"}, of elements in their canonical text, Bytes as \x and hexadecimal digits
//	Named       the source's own text of a type that only Type.Name describes
//
// # Ownership
//
// A Batch has one owner at a time; passing it on passes it whole. The last
// owner calls Release, which gives it back to the Pool that made it. Cells
// are valid until then.
package batch
