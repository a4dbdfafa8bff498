package mysql

import "strings"

// members is a set of the labels of an enum's or a set's declaration.
func members(declaration string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, label := range labelsOf(declaration) {
		set[label] = struct{}{}
	}
	return set
}

// labelsOf reads the labels of a declaration, enum('a','it”s'), as the
// catalogue writes it; nil for what is no such declaration to its end.
func labelsOf(declaration string) (labels []string) {
	rest, ok := strings.CutPrefix(declaration, "enum(")
	if !ok {
		rest, ok = strings.CutPrefix(declaration, "set(")
	}
	for ok {
		var label string
		if label, rest, ok = quotedLabel(rest); !ok {
			break
		}
		labels = append(labels, label)
		if rest == ")" {
			return labels
		}
		rest, ok = strings.CutPrefix(rest, ",")
	}
	return nil
}

// quotedLabel reads a label in quotes and returns what follows it.
func quotedLabel(text string) (label, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(text) && text[0] == '\''; i++ {
		c := text[i]
		more := i+1 < len(text)
		switch {
		case c == '\\' && more:
			i++
			b.WriteByte(unescapedByte(text[i]))
		case c == '\'' && more && text[i+1] == '\'':
			i++
			b.WriteByte(c)
		case c == '\'':
			return b.String(), text[i+1:], true
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// unescapedByte is what a byte behind a backslash stands for in a declaration.
func unescapedByte(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case '0':
		return 0
	}
	return c
}
