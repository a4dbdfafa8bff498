package sqlite

import (
	"bytes"
	"hash/maphash"

	"github.com/leatdata/leat/batch"
)

// keyTable finds rows of a batch that have the same key, byte by byte. Its
// memory is reused, so that a batch costs no allocation.
type keyTable struct {
	seed  maphash.Seed
	batch *batch.Batch
	key   []int
	// slots hold row numbers plus one, 0 where empty; their number is a power of two.
	slots []int32
}

// reset empties the table for the rows of a batch.
func (t *keyTable) reset(b *batch.Batch, key []int) {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	size := 16
	for size < 2*b.Rows {
		size *= 2
	}
	if size > len(t.slots) {
		t.slots = make([]int32, size)
	} else {
		clear(t.slots)
	}
	t.batch, t.key = b, key
}

// repeats reports whether a key comes twice in the batch.
func (t *keyTable) repeats(b *batch.Batch, key []int) bool {
	t.reset(b, key)
	for row := range b.Rows {
		if t.add(row) >= 0 {
			return true
		}
	}
	return false
}

// add puts a row in and returns an earlier one of the same key, or -1. A row
// with NULL in its key is like no other.
func (t *keyTable) add(row int) int {
	h := uint64(0)
	for _, k := range t.key {
		cell := t.batch.Columns[k].Cell(row)
		if cell == nil {
			return -1
		}
		h = h*31 + maphash.Bytes(t.seed, cell)
	}
	mask := len(t.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		if t.slots[i] == 0 {
			t.slots[i] = int32(row) + 1
			return -1
		}
		if earlier := int(t.slots[i]) - 1; t.same(earlier, row) {
			return earlier
		}
	}
}

func (t *keyTable) same(a, b int) bool {
	for _, k := range t.key {
		if !bytes.Equal(t.batch.Columns[k].Cell(a), t.batch.Columns[k].Cell(b)) {
			return false
		}
	}
	return true
}
