package coord

import (
	"fmt"
	"net/url"
	"strings"
)

// Escape makes any text a name that every store and file system takes: what is
// not a letter, digit, '.', '_' or '-' is a '%' and two hexadecimal digits, and so
// is a '.' at the beginning.
func Escape(text string) string {
	if text == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		plain := c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if plain || c == '.' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Unescape returns what Escape was given.
func Unescape(name string) (string, error) {
	if name == "%" {
		return "", nil
	}
	return url.PathUnescape(name)
}
