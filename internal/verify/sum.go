package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/bits"
)

// Sum is a sum of 128-bit hashes, modulo 2^128.
type Sum struct{ Hi, Lo uint64 }

// String returns the sum as 32 hexadecimal digits.
func (s Sum) String() string { return fmt.Sprintf("%016x%016x", s.Hi, s.Lo) }

func (s *Sum) add(t Sum) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, t.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, t.Hi, carry)
}

func (c *Content) add(d Content) {
	c.Rows += d.Rows
	c.Sum.add(d.Sum)
}

// rowHash hashes the cells of a record, each with its length, so that no two
// records of different cells are the same bytes.
type rowHash struct {
	hash    hash.Hash
	scratch [9]byte
	sum     [sha256.Size]byte
}

func newRowHash() *rowHash { return &rowHash{hash: sha256.New()} }

func (h *rowHash) begin() { h.hash.Reset() }

// cell adds a cell; nil is NULL.
func (h *rowHash) cell(text []byte) {
	if text == nil {
		h.scratch[0] = 0
		_, _ = h.hash.Write(h.scratch[:1])
		return
	}
	h.scratch[0] = 1
	binary.LittleEndian.PutUint64(h.scratch[1:], uint64(len(text)))
	_, _ = h.hash.Write(h.scratch[:])
	_, _ = h.hash.Write(text)
}

func (h *rowHash) end() Sum {
	sum := h.hash.Sum(h.sum[:0])
	return Sum{Hi: binary.BigEndian.Uint64(sum), Lo: binary.BigEndian.Uint64(sum[8:])}
}
