package value

// ParseBit checks a text of zeros and ones and returns it without the spaces
// around it. It may be empty.
func ParseBit(b []byte) ([]byte, error) {
	b = trim(b)
	for _, c := range b {
		if c != '0' && c != '1' {
			return nil, errBit
		}
	}
	return b, nil
}

// PackBits appends to dst the bits of a text of ParseBit, the first in the
// highest place of the first byte, the last byte filled up with zeros at its
// low end: PostgreSQL's form.
func PackBits(dst, bits []byte) []byte {
	for len(bits) > 0 {
		n := min(8, len(bits))
		dst = append(dst, byte(bitNumber(bits[:n])<<(8-n)))
		bits = bits[n:]
	}
	return dst
}

// AppendBits appends the first n bits of packed as zeros and ones.
func AppendBits(dst, packed []byte, n int) []byte {
	for i := range n {
		dst = append(dst, '0'+packed[i/8]>>(7-i%8)&1)
	}
	return dst
}

// bitNumber returns the number that up to 64 bits write.
func bitNumber(bits []byte) uint64 {
	var n uint64
	for _, c := range bits {
		n = n<<1 | uint64(c&1)
	}
	return n
}
