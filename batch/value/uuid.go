package value

// ParseUUID reads 32 hexadecimal digits of either case, with hyphens after any
// group of four or none, in braces or not.
func ParseUUID(b []byte) ([16]byte, error) {
	if len(b) == 36 {
		if id, ok := plainUUID(b); ok {
			return id, nil
		}
	}
	var id [16]byte
	b = trim(b)
	if n := len(b); n > 2 && b[0] == '{' && b[n-1] == '}' {
		b = b[1 : n-1]
	}
	n := 0
	for i := 0; i < len(b); i++ {
		if b[i] == '-' && n > 0 && n < 32 && n%4 == 0 && b[i-1] != '-' {
			continue
		}
		x := unhex(b[i])
		if x > 15 || n == 32 {
			return [16]byte{}, errUUID
		}
		id[n/2] = id[n/2]<<4 | x
		n++
	}
	if n != 32 {
		return [16]byte{}, errUUID
	}
	return id, nil
}

// plainUUID is the short way for the canonical form, in either case.
func plainUUID(b []byte) (id [16]byte, ok bool) {
	_ = b[35]
	if b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return id, false
	}
	for i, at := range [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		high, low := unhex(b[at]), unhex(b[at+1])
		if high > 15 || low > 15 {
			return id, false
		}
		id[i] = high<<4 | low
	}
	return id, true
}

// AppendUUID appends the id in lower case with hyphens.
func AppendUUID(dst []byte, id [16]byte) []byte {
	for i, c := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}
