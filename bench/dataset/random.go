package dataset

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// random draws what the tables are made of.
type random struct {
	pcg *rand.PCG
}

func newRandom(seed uint64) *random { return &random{rand.NewPCG(seed, 0x1ea7)} }

// below draws from 0 to n-1. The draw is uneven by less than 2^-32 for the sizes
// used here, which no measurement sees.
func (r *random) below(n int) int {
	return int((r.pcg.Uint64() >> 32) * uint64(n) >> 32)
}

func (r *random) between(low, high int) int { return low + r.below(high-low+1) }

// oneIn says yes once in n draws.
func (r *random) oneIn(n int) bool { return r.below(n) == 0 }

func (r *random) pick(texts []string) string { return texts[r.below(len(texts))] }

// words appends at least size bytes of words.
func (r *random) words(dst []byte, vocabulary []string, size int) []byte {
	for end := len(dst) + size; ; dst = append(dst, ' ') {
		dst = append(dst, r.pick(vocabulary)...)
		if len(dst) >= end {
			return dst
		}
	}
}

// appendCents appends a number of hundredths as a decimal with two places.
func appendCents(dst []byte, cents int) []byte {
	dst = strconv.AppendInt(dst, int64(cents/100), 10)
	return append(dst, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

// appendDate appends the day with this number since 1970.
func appendDate(dst []byte, day int) []byte {
	return time.Unix(int64(day)*86400, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// appendTimestamp appends microseconds since 1970, all six places.
func appendTimestamp(dst []byte, micros int64) []byte {
	return time.UnixMicro(micros).UTC().AppendFormat(dst, "2006-01-02 15:04:05.000000")
}

// appendQuoted appends a text in quotes, those within doubled.
func appendQuoted(dst []byte, text []byte) []byte {
	dst = append(dst, '"')
	for _, b := range text {
		if b == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, b)
	}
	return append(dst, '"')
}
