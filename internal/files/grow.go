package files

import (
	"runtime/debug"
	"slices"
)

// hugeBuffer is the size from which a buffer is worth a collection of garbage
// before it is made: what it takes the place of is then let go at once, and a
// huge record takes hardly more memory than the buffers it needs.
const hugeBuffer = 16 << 20

// grow returns buf with room for size bytes in all. Unlike append's, a huge
// one has no more room than that.
func grow(buf []byte, size int) []byte {
	switch {
	case cap(buf) >= size:
		return buf
	case size < hugeBuffer:
		return slices.Grow(buf, size-len(buf))
	}
	debug.FreeOSMemory()
	return append(make([]byte, 0, size), buf...)
}
