package database

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leatdata/leat/connector"
)

// Range is the part of a table or query that a split reads, as a value. The
// zero one is everything.
type Range struct {
	// Key names the columns of the range; rows lie after Low and up to and with
	// High, in the server's own order. A nil bound is open.
	Key  []string `json:"key,omitempty"`
	Low  []string `json:"low,omitempty"`
	High []string `json:"high,omitempty"`
	// Null selects the rows whose key is NULL, NotNull those where it is not.
	Null    bool `json:"null,omitempty"`
	NotNull bool `json:"not_null,omitempty"`
	// Ordered reads in the order of Key.
	Ordered bool `json:"ordered,omitempty"`
}

// Compare is the condition that the key's columns lie on one side of a value:
// by the operator > or <=.
type Compare func(operator string, key []string) (string, error)

// Conditions are those that select the range's rows after a position, which is
// nil at its start. first is the key's first column as SQL.
func (r *Range) Conditions(first string, compare Compare, after []string) ([]string, error) {
	var list []string
	switch {
	case r.Null:
		list = append(list, first+" IS NULL")
	case r.NotNull:
		list = append(list, first+" IS NOT NULL")
	}
	low := r.Low
	if after != nil {
		low = after
	}
	for _, bound := range []struct {
		operator string
		key      []string
	}{{">", low}, {"<=", r.High}} {
		if bound.key == nil {
			continue
		}
		condition, err := compare(bound.operator, bound.key)
		if err != nil {
			return nil, err
		}
		list = append(list, condition)
	}
	return list, nil
}

// EncodeSpec is a split's value as its Spec: a Range, or a struct with one
// embedded.
func EncodeSpec(spec any) string {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("database: encode a split: %v", err)) // texts and numbers can always be marshalled
	}
	return string(text)
}

// DecodeSpec reads what EncodeSpec made.
func DecodeSpec[T any](text string) (*T, error) {
	spec := new(T)
	if err := json.Unmarshal([]byte(text), spec); err != nil {
		return nil, connector.Errorf(connector.Permanent, "read a split: %w", err)
	}
	return spec, nil
}

// EncodePosition makes the position after the row of a key.
func EncodePosition(key []string) (connector.Position, error) {
	if err := CheckKeyText(key); err != nil {
		return "", err
	}
	text, err := json.Marshal(key)
	return connector.Position(text), err
}

// DecodePosition reads the position in a key of n columns; nil for the start.
func DecodePosition(pos connector.Position, n int) ([]string, error) {
	if pos == "" {
		return nil, nil
	}
	var key []string
	if err := json.Unmarshal([]byte(pos), &key); err != nil {
		return nil, connector.Errorf(connector.Permanent, "read a position: %w", err)
	}
	if len(key) != n {
		return nil, connector.Errorf(connector.Permanent, "a position of %d columns, where the key has %d", len(key), n)
	}
	return key, nil
}

// CheckKeyText refuses keys that JSON would change: those of a database whose
// encoding is no Unicode may be anything.
func CheckKeyText(key []string) error {
	for _, k := range key {
		if !utf8.ValidString(k) {
			return connector.Errorf(connector.Permanent, "a key is not UTF-8, so it cannot be a position; name another column by key")
		}
	}
	return nil
}

// Where joins conditions into a WHERE.
func Where(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}
