package batch

import (
	"runtime/debug"
	"slices"
)

// Huge is the size from which a buffer is worth a collection of garbage before
// it is made: what it takes the place of is then let go at once, and a huge
// record takes hardly more memory than the buffers it needs.
const Huge = 16 << 20

// Grow returns buf with room for size bytes in all. Unlike append's, a huge
// one has no more room than that.
func Grow(buf []byte, size int) []byte {
	switch {
	case cap(buf) >= size:
		return buf
	case size < Huge:
		return slices.Grow(buf, size-len(buf))
	}
	debug.FreeOSMemory()
	return append(make([]byte, 0, size), buf...)
}
