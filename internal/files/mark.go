package files

import (
	"bytes"
	"fmt"

	"github.com/leatdata/leat/batch"
)

// A mark stands in decoded text for bytes that are none of the encoding, so
// that the record they are in is found not to be UTF-8 and is dirty. It is made
// of bytes that no text holds, each with three bits, after one that begins it:
// the number of the first byte in the file, then the bytes themselves. Going
// on after a crash finds the same text again.
const (
	markStart  = 0xf5
	markDigit  = 0xf8
	markOffset = 21 // digits of the byte's number
	markByte   = 3  // digits of each of the bytes
)

// appendMark appends the mark of bytes at an offset of the file.
func appendMark(dst []byte, offset int64, bad []byte) []byte {
	dst = append(dst, markStart)
	dst = appendDigits(dst, uint64(offset), markOffset)
	for _, c := range bad {
		dst = appendDigits(dst, uint64(c), markByte)
	}
	return dst
}

func appendDigits(dst []byte, n uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, markDigit|byte(n>>(3*i)&7))
	}
	return dst
}

// parseMark reads the mark that text begins with; size is 0 when there is none.
func parseMark(text []byte) (offset int64, bad []byte, size int) {
	if len(text) < 1+markOffset || text[0] != markStart {
		return 0, nil, 0
	}
	size = 1 + markOffset
	n := parseDigits(text[1:size])
	for len(text) >= size+markByte && text[size] >= markDigit {
		bad = append(bad, byte(parseDigits(text[size:size+markByte])))
		size += markByte
	}
	return int64(n), bad, size
}

func parseDigits(text []byte) (n uint64) {
	for _, c := range text {
		n = n<<3 | uint64(c&7)
	}
	return n
}

// unmark puts the file's own bytes in the place of marks.
func unmark(text []byte) []byte {
	i := bytes.IndexByte(text, markStart)
	if i < 0 {
		return text
	}
	var out []byte
	for ; i >= 0; i = bytes.IndexByte(text, markStart) {
		_, bad, size := parseMark(text[i:])
		out = append(append(out, text[:i]...), bad...)
		text = text[i+max(size, 1):]
	}
	return append(out, text...)
}

// unmarkReject has a dirty record hold the file's own bytes. One with a mark
// is dirty because of that, whatever else the decoder found.
func (r *reader) unmarkReject(x *batch.Reject, schema *batch.Schema) {
	fault := r.markFault(x.Raw)
	x.Raw = unmark(x.Raw)
	for i, v := range x.Values {
		if own := r.markFault(v); own != "" && fault == "" {
			fault, x.Column = own, schema.Fields[i].Name
		}
		x.Values[i] = unmark(v)
	}
	if fault != "" {
		x.Reason = fault
	}
}

// markFault says what the first mark in a text stands for, "" without one.
func (r *reader) markFault(text []byte) string {
	i := bytes.IndexByte(text, markStart)
	if i < 0 {
		return ""
	}
	offset, bad, size := parseMark(text[i:])
	if size == 0 {
		return ""
	}
	return fmt.Sprintf("the bytes % x at byte %d are not valid %s", bad, offset, r.encoding)
}
