package option

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a time span of 0 or more, written as 500ms, 10s, 5m or 1h30m.
type Duration time.Duration

// Std returns the duration as the standard library's.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// ParseDuration reads a duration.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 500ms, 10s or 1h30m", text)
	}
	return Duration(d), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	n, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = n
	return nil
}

// String returns the duration without units of zero: 5m, not 5m0s.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
