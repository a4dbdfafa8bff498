package value

// ParseBool reads true, t, yes, y, on, 1 and false, f, no, n, off, 0 in any
// case, with spaces around.
func ParseBool(b []byte) (bool, error) {
	b = trim(b)
	switch len(b) {
	case 1:
		switch b[0] {
		case '1', 't', 'T', 'y', 'Y':
			return true, nil
		case '0', 'f', 'F', 'n', 'N':
			return false, nil
		}
	case 2:
		if fold(b, "on") {
			return true, nil
		}
		if fold(b, "no") {
			return false, nil
		}
	case 3:
		if fold(b, "yes") {
			return true, nil
		}
		if fold(b, "off") {
			return false, nil
		}
	case 4:
		if fold(b, "true") {
			return true, nil
		}
	case 5:
		if fold(b, "false") {
			return false, nil
		}
	}
	return false, errBool
}

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}
