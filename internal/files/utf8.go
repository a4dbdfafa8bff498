package files

import (
	"encoding/binary"
	"unicode/utf8"
)

// validator judges UTF-8, several times as fast as package unicode/utf8 where
// letters beyond ASCII stand among others: its steps have no branches that
// depend on the text. It follows the text byte by byte through the states of
// table 3-7 of the Unicode standard; a state is a number of bits by which a
// byte's row of next states is shifted (Per Vognsen's shift-based automaton).
type validator struct{ rows [256]uint64 }

// The states: what has to follow, each six bits wide in a row.
const (
	whole     = 6 * iota // a character may begin
	invalid              // for good
	one                  // one continuation byte
	two                  // two of them
	three                // three of them
	afterE0              // A0-BF, then one
	afterED              // 80-9F, then one
	afterF0              // 90-BF, then two
	afterF4              // 80-8F, then two
	rowStates = iota
)

func newValidator() *validator {
	v := &validator{}
	for b := range v.rows {
		for state := range rowStates {
			v.rows[b] |= uint64(next(6*state, byte(b))) << (6 * state)
		}
	}
	return v
}

// next is the step from a state with a byte.
func next(state int, b byte) int {
	within := func(lo, hi byte, then int) int {
		if b < lo || b > hi {
			return invalid
		}
		return then
	}
	switch state {
	case whole:
		return begin(b)
	case one:
		return within(0x80, 0xbf, whole)
	case two:
		return within(0x80, 0xbf, one)
	case three:
		return within(0x80, 0xbf, two)
	case afterE0:
		return within(0xa0, 0xbf, one)
	case afterED:
		return within(0x80, 0x9f, one)
	case afterF0:
		return within(0x90, 0xbf, two)
	case afterF4:
		return within(0x80, 0x8f, two)
	}
	return invalid
}

// begin is the state after a character's first byte.
func begin(b byte) int {
	switch {
	case b < utf8.RuneSelf:
		return whole
	case b >= 0xc2 && b <= 0xdf:
		return one
	case b == 0xe0:
		return afterE0
	case b == 0xed:
		return afterED
	case b >= 0xe1 && b <= 0xef:
		return two
	case b == 0xf0:
		return afterF0
	case b >= 0xf1 && b <= 0xf3:
		return three
	case b == 0xf4:
		return afterF4
	}
	return invalid
}

// valid reports whether p is valid UTF-8, as utf8.Valid does. It follows both
// halves at once, since a step has to wait for the one before it.
func (v *validator) valid(p []byte) bool {
	half := len(p) / 2
	for half > 0 && !utf8.RuneStart(p[half]) {
		half--
	}
	a, b := p[:half], p[half:]
	s, t := uint64(whole), uint64(whole)
	for len(a) >= 32 && len(b) >= 32 {
		x, y := (*[32]byte)(a), (*[32]byte)(b)
		a, b = a[32:], b[32:]
		if ascii(x) && ascii(y) && s&63 == whole && t&63 == whole {
			continue
		}
		for i := range x {
			s = v.rows[x[i]] >> (s & 63)
			t = v.rows[y[i]] >> (t & 63)
		}
	}
	return v.follow(s, a) == whole && v.follow(t, b) == whole
}

// ascii reports whether all bytes are below 0x80.
func ascii(p *[32]byte) bool {
	a, b := binary.LittleEndian.Uint64(p[0:8]), binary.LittleEndian.Uint64(p[8:16])
	c, d := binary.LittleEndian.Uint64(p[16:24]), binary.LittleEndian.Uint64(p[24:32])
	return (a|b|c|d)&0x8080808080808080 == 0
}

// follow takes the steps of all bytes.
func (v *validator) follow(state uint64, p []byte) uint64 {
	for _, b := range p {
		state = v.rows[b] >> (state & 63)
	}
	return state & 63
}
