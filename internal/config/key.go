package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what a key's value is.
type Kind uint8

// The kinds.
const (
	Text Kind = iota
	Duration
	Count
	Bool
)

// String names the kind as an error does.
func (k Kind) String() string {
	return [...]string{"text", "a duration such as 10s or 1m30s", "a number", "true or false"}[k]
}

// Key is a setting.
type Key struct {
	Name string
	Kind Kind
	// Default is its value unless it is given; empty: there is none.
	Default string
	// Enum are the only values allowed, if there are any.
	Enum []string
	// Min is the least number, or the least duration in nanoseconds.
	Min int64
	// Secret keeps the value out of what is printed.
	Secret bool
	Doc    string
}

// EnvName is the variable that sets a key: LEAT_ and the key in capitals, dots
// and dashes as underscores.
func (k Key) EnvName() string {
	return "LEAT_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.Name))
}

// normal checks a value and returns the one way to write it.
func (k Key) normal(value string) (string, error) {
	value = strings.TrimSpace(value)
	if len(k.Enum) > 0 && !slices.Contains(k.Enum, value) {
		return "", fmt.Errorf("%q is none of %s", value, strings.Join(k.Enum, ", "))
	}
	wrong := fmt.Errorf("%q is not %s", value, k.Kind)
	switch k.Kind {
	case Duration:
		d, err := time.ParseDuration(strings.ReplaceAll(value, " ", ""))
		if err != nil {
			return "", wrong
		}
		return k.atLeast(int64(d), shortDuration)
	case Count:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return "", wrong
		}
		return k.atLeast(n, func(n time.Duration) string { return strconv.FormatInt(int64(n), 10) })
	case Bool:
		if value != "true" && value != "false" {
			return "", wrong
		}
	case Text:
	}
	return value, nil
}

func (k Key) atLeast(n int64, text func(time.Duration) string) (string, error) {
	value := text(time.Duration(n))
	if n < k.Min {
		return "", fmt.Errorf("%s is too small: at least %s", value, text(time.Duration(k.Min)))
	}
	return value, nil
}

// shortDuration prints 2m0s as 2m.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
