package verify

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/leatdata/leat/batch"
)

// key is a record's key: order is compared bytewise, texts are for people.
type key struct {
	order []byte
	texts []string
}

// appendOrder appends a cell's part of a key's order. Integers are in their
// order, all else in that of its canonical text, NULL first.
func appendOrder(dst []byte, kind batch.Kind, cell []byte) []byte {
	if cell == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if kind.IsInteger() {
		if n, err := strconv.ParseUint(string(cell), 10, 64); err == nil {
			return binary.BigEndian.AppendUint64(append(dst, 1), n)
		}
		if n, err := strconv.ParseInt(string(cell), 10, 64); err == nil {
			return binary.BigEndian.AppendUint64(append(dst, 0), uint64(n))
		}
	}
	// A text ends in 0 0; a 0 in it becomes 0 1.
	for _, c := range cell {
		dst = append(dst, c)
		if c == 0 {
			dst = append(dst, 1)
		}
	}
	return append(dst, 0, 0)
}

// counts are the contents per range; without bounds there is one range.
type counts struct {
	bounds []key
	ranges []Content
}

func newCounts(bounds []key) *counts {
	return &counts{bounds: bounds, ranges: make([]Content, len(bounds)+1)}
}

// count adds a record of a key's order.
func (c *counts) count(order []byte, sum Sum) {
	i := 0
	if len(c.bounds) > 0 {
		i, _ = slices.BinarySearchFunc(c.bounds, order, func(b key, o []byte) int {
			if bytes.Compare(b.order, o) <= 0 {
				return -1 // the bound itself begins its range
			}
			return 1
		})
	}
	c.ranges[i].Rows++
	c.ranges[i].Sum.add(sum)
}

func (c *counts) add(d *counts) {
	for i := range c.ranges {
		c.ranges[i].add(d.ranges[i])
	}
}

func (c *counts) total() Content {
	var t Content
	for _, r := range c.ranges {
		t.add(r)
	}
	return t
}

// sample keeps some of the keys that both sides have, each with the same
// probability. It is safe for concurrent use.
type sample struct {
	mu   sync.Mutex
	keys []key
	size int
	seen int64
	rand *rand.Rand
}

func newSample(size int) *sample {
	return &sample{size: size, rand: rand.New(rand.NewPCG(1, 2))}
}

// offer says whether the next key should be kept, and where.
func (s *sample) offer(order []byte, texts func() []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen++
	if len(s.keys) < s.size {
		s.keys = append(s.keys, key{order: bytes.Clone(order), texts: texts()})
		return
	}
	if i := s.rand.Int64N(s.seen); i < int64(s.size) {
		s.keys[i] = key{order: bytes.Clone(order), texts: texts()}
	}
}

// bounds returns the bounds of at most n ranges of about as many keys each.
func (s *sample) bounds(n int) []key {
	slices.SortFunc(s.keys, func(a, b key) int { return bytes.Compare(a.order, b.order) })
	keys := slices.CompactFunc(s.keys, func(a, b key) bool { return bytes.Equal(a.order, b.order) })
	var bounds []key
	for i := 1; i < n; i++ {
		at := i * len(keys) / n
		if at == 0 || at >= len(keys) {
			continue
		}
		if k := keys[at]; len(bounds) == 0 || !bytes.Equal(bounds[len(bounds)-1].order, k.order) {
			bounds = append(bounds, k)
		}
	}
	return bounds
}
