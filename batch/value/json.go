package value

import (
	"encoding/json"
	"unicode/utf8"
)

// ValidJSON reports whether b is one JSON value, of UTF-8, with spaces around
// or none.
func ValidJSON(b []byte) bool { return utf8.Valid(b) && json.Valid(b) }
