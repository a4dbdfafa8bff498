package csv

import "bytes"

// lineEnds says what ends a record outside quotes.
type lineEnds uint8

const (
	endsAny  lineEnds = iota // LF or CRLF
	endsLF                   // LF alone; a CR before it belongs to the field
	endsCRLF                 // CRLF alone; a single CR or LF belongs to the field
	endsCR                   // CR alone
)

// dialect is how a text is cut into records and fields.
type dialect struct {
	delim     byte
	quote     byte // meaningful when quoting
	quoting   bool
	backslash bool
	null      string
	ends      lineEnds
}

// endByte is the last byte of every line end.
func (d *dialect) endByte() byte {
	if d.ends == endsCR {
		return '\r'
	}
	return '\n'
}

// LineEnd implements files.LineEnder for decoder and cutter.
func (d *dialect) LineEnd() byte { return d.endByte() }

// endAt returns the length of the line end that starts at data[i], 0 when none
// does. more says that the next byte is needed to tell.
func (d *dialect) endAt(data []byte, i int) (n int, more bool) {
	switch c := data[i]; {
	case c == '\n':
		if d.ends == endsAny || d.ends == endsLF {
			return 1, false
		}
	case c == '\r':
		if d.ends == endsCR {
			return 1, false
		}
		if d.ends == endsAny || d.ends == endsCRLF {
			if i+1 == len(data) {
				return 0, true
			}
			if data[i+1] == '\n' {
				return 2, false
			}
		}
	}
	return 0, false
}

// escapes reports whether a backslash makes c literal.
func (d *dialect) escapes(c byte, quoted bool) bool {
	return c == '\\' || c == '\n' || c == '\r' || d.quoting && c == d.quote || !quoted && c == d.delim
}

// unescape rewrites the text of a field in place, without its doubled quotes
// or its backslashes, and returns the new length.
func (d *dialect) unescape(text []byte, quoted bool) int {
	w := 0
	if !d.backslash {
		for r := 0; r < len(text); {
			j := bytes.IndexByte(text[r:], d.quote)
			if j < 0 {
				w += copy(text[w:], text[r:])
				break
			}
			w += copy(text[w:], text[r:r+j+1])
			r += j + 2
		}
		fill(text[w:])
		return w
	}
	for r := 0; r < len(text); r++ {
		if r+1 < len(text) {
			next := text[r+1]
			if text[r] == '\\' && d.escapes(next, quoted) || quoted && text[r] == d.quote && next == d.quote {
				r++
			}
		}
		text[w] = text[r]
		w++
	}
	fill(text[w:])
	return w
}

// fill overwrites what is left behind an unescaped text, a byte for each
// escape: line ends there would be counted twice, and a part of a character or
// a zero byte would have every cell of the batch looked at by itself.
func fill(rest []byte) {
	for i := range rest {
		rest[i] = ' '
	}
}

// separator finds the delimiter or line end that ends the field without
// quotes that data[i] is in. It returns len(data) when none is there.
func (d *dialect) separator(data []byte, i int) (at int, escaped bool) {
	for ; i < len(data); i++ {
		c := data[i]
		if c == d.delim {
			return i, escaped
		}
		if d.backslash && c == '\\' {
			if i+1 < len(data) && d.escapes(data[i+1], false) {
				escaped = true
				i++
			}
			continue
		}
		if c == '\n' || c == '\r' {
			if n, _ := d.endAt(data, i); n > 0 {
				return i, escaped
			}
		}
	}
	return len(data), escaped
}

// closing finds the quote that closes the field whose text starts at data[i].
// It returns -1 when none is there. That a quote at the very end of data may
// be the first half of a doubled one is for the caller to mind.
func (d *dialect) closing(data []byte, i int) (at int, escaped bool) {
	if d.backslash {
		return d.closingBackslash(data, i)
	}
	for {
		j := bytes.IndexByte(data[i:], d.quote)
		if j < 0 {
			return -1, escaped
		}
		i += j
		if i+1 == len(data) || data[i+1] != d.quote {
			return i, escaped
		}
		escaped = true
		i += 2
	}
}

func (d *dialect) closingBackslash(data []byte, i int) (at int, escaped bool) {
	for ; i < len(data); i++ {
		switch data[i] {
		case '\\':
			if i+1 < len(data) && d.escapes(data[i+1], true) {
				escaped = true
				i++
			}
		case d.quote:
			if i+1 == len(data) || data[i+1] != d.quote {
				return i, escaped
			}
			escaped = true
			i++
		}
	}
	return -1, escaped
}
