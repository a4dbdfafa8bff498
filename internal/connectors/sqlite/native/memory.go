package native

import (
	"fmt"

	"modernc.org/libc"
)

// Memory is memory that SQLite may read from, for the texts and blobs of a
// batch. It grows and is reused.
type Memory struct {
	p    uintptr
	size int
}

// Copy puts the data where SQLite can read it, in place of what Copy put
// there before, and returns the address of its first byte.
func (m *Memory) Copy(data []byte) (uintptr, error) {
	if len(data) > m.size || m.p == 0 {
		m.Free()
		size := max(2*len(data), 1<<12)
		if m.p = libc.Xmalloc(nil, libc.Tsize_t(size)); m.p == 0 {
			return 0, fmt.Errorf("out of memory for %d bytes", size)
		}
		m.size = size
	}
	copy(libc.GoBytes(m.p, len(data)), data)
	return m.p, nil
}

// Free gives the memory back. It may be called twice.
func (m *Memory) Free() {
	if m.p != 0 {
		libc.Xfree(nil, m.p)
		m.p, m.size = 0, 0
	}
}
