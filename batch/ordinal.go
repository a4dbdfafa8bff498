package batch

import (
	"slices"
	"sort"
)

// Ordinal returns the ordinal of row i, counted as First is. ok is false when
// it cannot be told.
func (b *Batch) Ordinal(i int) (n int64, ok bool) {
	if b.First == 0 || int64(b.Rows+len(b.Gone)) != b.Read {
		return 0, false
	}
	before := sort.Search(len(b.Gone), func(k int) bool { return int(b.Gone[k])-k > i })
	return b.First + int64(i+before), true
}

// NoteGone adds rows to Gone, before who drops them sets Rows: dropped says of
// each row whether it goes.
func (b *Batch) NoteGone(dropped []bool) {
	if b.First == 0 {
		return
	}
	n := 0
	for _, is := range dropped {
		if is {
			n++
		}
	}
	// The two lists are merged from their ends, in place.
	old, at := len(b.Gone), len(dropped)+len(b.Gone)-1
	b.Gone = slices.Grow(b.Gone, n)[:old+n]
	for row, to := len(dropped)-1, old+n; to > old; at-- {
		switch {
		case old > 0 && int(b.Gone[old-1]) == at:
			old--
		case dropped[row]:
			row--
		default:
			row--
			continue
		}
		to--
		b.Gone[to] = int32(at)
	}
}

// NoteRejects makes Gone the records that are Rejects, which say where they
// are; nothing when one does not.
func (b *Batch) NoteRejects() {
	b.Gone = b.Gone[:0]
	if b.First == 0 {
		return
	}
	for i := range b.Rejects {
		if b.Rejects[i].At < b.First {
			b.Gone = b.Gone[:0]
			return
		}
		b.Gone = append(b.Gone, int32(b.Rejects[i].At-b.First))
	}
	slices.Sort(b.Gone)
}
