package parquet

import (
	"bytes"
	"hash/maphash"
)

const (
	// maxEntries and maxDictionary bound a dictionary.
	maxEntries    = 1 << 16
	maxDictionary = 1 << 20
	// From fewEntries on an entry must stand for payingShare values; from
	// someEntries on, not nearly all values may have been new.
	fewEntries  = 4096
	payingShare = 4
	someEntries = 1024
	// firstSlots is the size of an empty hash table.
	firstSlots = 256
)

// dictionary numbers the values of a column in a row group, by the texts of
// their cells: one that was met before need not be read again.
type dictionary struct {
	seed  maphash.Seed
	slots []slot
	// keys and values hold the entries' texts and PLAIN values, which end at
	// keyEnds and valueEnds.
	keys, values       []byte
	keyEnds, valueEnds []uint32
}

// slot is a place of the hash table; entry counts from 1.
type slot struct{ tag, entry uint32 }

func newDictionary() *dictionary {
	return &dictionary{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots)}
}

// reset forgets all entries.
func (d *dictionary) reset() {
	if d.len() == 0 {
		return
	}
	clear(d.slots)
	d.keys, d.values, d.keyEnds, d.valueEnds = d.keys[:0], d.values[:0], d.keyEnds[:0], d.valueEnds[:0]
}

func (d *dictionary) len() int { return len(d.keyEnds) }

// size is the memory that the entries take.
func (d *dictionary) size() int {
	return len(d.keys) + len(d.values) + 8*len(d.keyEnds) + 8*len(d.slots)
}

// find returns the entry of a text, or where to add it.
func (d *dictionary) find(key []byte) (entry, at int, tag uint32) {
	h := maphash.Bytes(d.seed, key)
	tag = uint32(h >> 32)
	mask := len(d.slots) - 1
	for at = int(h) & mask; ; at = (at + 1) & mask {
		s := d.slots[at]
		if s.entry == 0 {
			return -1, at, tag
		}
		if s.tag == tag && bytes.Equal(d.key(int(s.entry-1)), key) {
			return int(s.entry - 1), at, tag
		}
	}
}

func (d *dictionary) key(i int) []byte { return part(d.keys, d.keyEnds, i) }

// value returns the PLAIN value of an entry.
func (d *dictionary) value(i int) []byte { return part(d.values, d.valueEnds, i) }

func part(all []byte, ends []uint32, i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = ends[i-1]
	}
	return all[from:ends[i]]
}

// add adds a text where find has looked for it; its value has just been
// appended to values.
func (d *dictionary) add(key []byte, at int, tag uint32) int {
	d.keys = append(d.keys, key...)
	d.keyEnds = append(d.keyEnds, uint32(len(d.keys)))
	d.valueEnds = append(d.valueEnds, uint32(len(d.values)))
	n := len(d.keyEnds)
	d.slots[at] = slot{tag, uint32(n)}
	if n*2 > len(d.slots) {
		d.grow()
	}
	return n - 1
}

func (d *dictionary) grow() {
	d.slots = make([]slot, 4*len(d.slots))
	mask := len(d.slots) - 1
	for i := range d.keyEnds {
		h := maphash.Bytes(d.seed, d.key(i))
		at := int(h) & mask
		for d.slots[at].entry != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = slot{uint32(h >> 32), uint32(i + 1)}
	}
}

// pays reports whether the dictionary is worth to be gone on with, for as many
// values as it stands for.
func (d *dictionary) pays(values int) bool {
	n := d.len()
	switch {
	case n >= maxEntries || len(d.keys)+len(d.values) > maxDictionary:
		return false
	case n >= fewEntries || len(d.values) > maxDictionary/4:
		return n*payingShare <= values
	}
	return n < someEntries || n*10 <= values*9
}
