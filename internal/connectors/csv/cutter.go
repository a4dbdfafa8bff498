package csv

import "bytes"

// cutState is what a cutter knows about the byte that comes next.
type cutState uint8

const (
	atField     cutState = iota // it begins a field
	inField                     // it is in a field without quotes, or after a closing quote
	inQuotes                    // it is within quotes
	atQuote                     // the byte before it, within quotes, was a quote
	afterSlash                  // a backslash came before it, outside quotes
	quotedSlash                 // a backslash came before it, within quotes
)

// cutter is a files.Cutter. It skips from quote to quote, and looks for line
// ends only past the place that was asked for.
type cutter struct {
	dialect
	state cutState
	last  byte // the byte before the block
}

// Cut implements files.Cutter.
func (c *cutter) Cut(p []byte, from int) int {
	if c.backslash {
		return c.step(p, from)
	}
	end := c.skip(p, from)
	if end > 0 {
		c.last = p[end-1]
	} else if len(p) > 0 {
		c.last = p[len(p)-1]
	}
	return end
}

// skip is Cut for dialects without a backslash.
func (c *cutter) skip(p []byte, from int) int {
	for i := 0; i < len(p); {
		switch c.state {
		case inQuotes:
			j := bytes.IndexByte(p[i:], c.quote)
			if j < 0 {
				return -1
			}
			i += j + 1
			c.state = atQuote
		case atQuote:
			c.state = inField
			if p[i] == c.quote {
				c.state = inQuotes
				i++
			}
		default:
			q := c.opening(p, i)
			if end := c.recordEnd(p, max(i, from-1), q); end > 0 {
				c.state = atField
				return end
			}
			if q == len(p) {
				c.state = inField
				if p[q-1] == c.delim || c.ended(p, q-1) {
					c.state = atField
				}
				return -1
			}
			c.state = inQuotes
			i = q + 1
		}
	}
	return -1
}

// opening finds the next quote at or after p[i] that begins a field; p[i] is
// outside quotes. It returns len(p) when none does.
func (c *cutter) opening(p []byte, i int) int {
	if !c.quoting {
		return len(p)
	}
	if p[i] == c.quote && c.state == atField {
		return i
	}
	for q := i + 1; q < len(p); q++ {
		j := bytes.IndexByte(p[q:], c.quote)
		if j < 0 {
			break
		}
		q += j
		if p[q-1] == c.delim || c.ended(p, q-1) {
			return q
		}
	}
	return len(p)
}

// ended reports whether a line end ends with p[i], which is outside quotes.
func (c *cutter) ended(p []byte, i int) bool {
	if p[i] != c.endByte() {
		return false
	}
	if c.ends != endsCRLF {
		return true
	}
	if i == 0 {
		return c.last == '\r'
	}
	return p[i-1] == '\r'
}

// recordEnd finds the first line end that ends in p[lo:hi], which is outside
// quotes, and returns the index after it, or 0.
func (c *cutter) recordEnd(p []byte, lo, hi int) int {
	for i := lo; i < hi; i++ {
		j := bytes.IndexByte(p[i:hi], c.endByte())
		if j < 0 {
			break
		}
		i += j
		if c.ended(p, i) {
			return i + 1
		}
	}
	return 0
}

// step is Cut byte by byte. A CR counts as half of a line end only where it
// is outside quotes and not escaped; last is 0 after others.
func (c *cutter) step(p []byte, from int) int {
	for i, b := range p {
		last := c.last
		c.last = 0
		switch c.state {
		case inQuotes:
			if b == c.quote {
				c.state = atQuote
			} else if b == '\\' {
				c.state = quotedSlash
			}
			continue
		case quotedSlash:
			c.state = inQuotes
			continue
		case afterSlash:
			c.state = inField
			if c.escapes(b, false) {
				continue
			}
		case atQuote:
			c.state = inField
			if b == c.quote {
				c.state = inQuotes
				continue
			}
		case atField:
			c.state = inField
			if c.quoting && b == c.quote {
				c.state = inQuotes
				continue
			}
		}
		c.last = b
		switch {
		case b == c.delim:
			c.state = atField
		case b == '\\':
			c.state = afterSlash
		case b == c.endByte() && (c.ends != endsCRLF || last == '\r'):
			c.state = atField
			if i+1 >= from {
				return i + 1
			}
		}
	}
	return -1
}
