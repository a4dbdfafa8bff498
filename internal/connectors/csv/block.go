package csv

import "encoding/binary"

const (
	lows  = 0x7f7f7f7f7f7f7f7f
	highs = 0x8080808080808080
	ones  = 0x0101010101010101
	// gather moves the high bits of eight bytes side by side into the top byte.
	gather = 0x0002040810204081
)

// repeat returns a word of eight times the byte c.
func repeat(c byte) uint64 { return ones * uint64(c) }

// hits returns in its lowest eight bits which bytes of w equal the byte that
// a, or the byte that b, repeats. It is exact, unlike the shorter trick whose
// borrow marks a byte after a hit.
func hits(w, a, b uint64) uint64 {
	x, y := w^a, w^b
	x = (x&lows + lows) | x
	y = (y&lows + lows) | y
	return (^(x & y) & highs) * gather >> 56
}

// hits64 returns which of 64 bytes equal one of two, bit i for byte i.
func hits64(p *[64]byte, a, b uint64) uint64 {
	return hits(binary.LittleEndian.Uint64(p[0:8]), a, b) |
		hits(binary.LittleEndian.Uint64(p[8:16]), a, b)<<8 |
		hits(binary.LittleEndian.Uint64(p[16:24]), a, b)<<16 |
		hits(binary.LittleEndian.Uint64(p[24:32]), a, b)<<24 |
		hits(binary.LittleEndian.Uint64(p[32:40]), a, b)<<32 |
		hits(binary.LittleEndian.Uint64(p[40:48]), a, b)<<40 |
		hits(binary.LittleEndian.Uint64(p[48:56]), a, b)<<48 |
		hits(binary.LittleEndian.Uint64(p[56:64]), a, b)<<56
}

// hitsTail is hits64 for the last bytes of a chunk, fewer than 64.
func hitsTail(p []byte, a, b uint64) uint64 {
	var block [64]byte
	n := copy(block[:], p)
	return hits64(&block, a, b) & (1<<uint(n) - 1)
}
