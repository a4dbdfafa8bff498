package option

import (
	"fmt"
	"log/slog"
)

// mask stands where a secret would.
const mask = "***"

// Secret is a text that shows itself to nobody who does not ask by Reveal:
// however it is printed, logged or marshalled, it is masked.
type Secret string

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// Masked returns a URL or connection text without its passwords, for
// messages: see MaskURL. Another text is masked whole.
func (s Secret) Masked() string {
	if isConnectionText(string(s)) {
		return MaskURL(string(s))
	}
	return s.String()
}

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// Format implements fmt.Formatter, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return s.String() }

// MarshalText implements encoding.TextMarshaler, which JSON and YAML use too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON implements json.Marshaler.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
