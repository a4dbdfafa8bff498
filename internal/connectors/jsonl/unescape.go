package jsonl

import (
	"bytes"
	"unicode/utf8"
)

// unescape writes the text of a checked string over its front, which is never
// longer, and returns its length.
func unescape(b []byte) int {
	to := bytes.IndexByte(b, '\\')
	for from := to; from < len(b); {
		if b[from] != '\\' {
			next := bytes.IndexByte(b[from:], '\\')
			if next < 0 {
				next = len(b) - from
			}
			to += copy(b[to:], b[from:from+next])
			from += next
			continue
		}
		c := b[from+1]
		from += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(b, from)
			from += 4
			if r >= 0xd800 && r < 0xdc00 {
				low, _ := hex4(b, from+2)
				r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
				from += 6
			}
			to += utf8.EncodeRune(b[to:], r)
			continue
		}
		b[to] = c
		to++
	}
	return to
}
