package value

func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

func isDigit(c byte) bool { return c-'0' < 10 }

// trim cuts ASCII white space at both ends, as databases' own parsers do for
// every type that is not text.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// fold reports whether b is word in any case; word is lower-case ASCII letters.
func fold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		if b[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

// digits returns how many decimal digits b begins with.
func digits(b []byte) int {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return n
}

// small returns the number that at most nine digits make.
func small(b []byte) int {
	n := 0
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}

func append2(dst []byte, n int) []byte {
	return append(dst, byte('0'+n/10), byte('0'+n%10))
}

// infinity tells infinity (1) and -infinity (-1) from other texts (0).
func infinity(b []byte) int {
	switch {
	case len(b) < 8:
	case fold(b, "infinity"):
		return 1
	case b[0] == '-' && fold(b[1:], "infinity"):
		return -1
	case b[0] == '+' && fold(b[1:], "infinity"):
		return 1
	}
	return 0
}
