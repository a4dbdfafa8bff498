package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leatdata/leat/connector"
)

// splitSpec is what a split reads, as a value. The zero one reads everything.
type splitSpec struct {
	// Key names the columns of a range; rows lie after Low and up to and with
	// High, in the database's own order. A nil bound is open.
	Key  []string `json:"key,omitempty"`
	Low  []string `json:"low,omitempty"`
	High []string `json:"high,omitempty"`
	// Null selects the rows whose key is NULL, NotNull those where it is not.
	Null    bool `json:"null,omitempty"`
	NotNull bool `json:"not_null,omitempty"`
	// Ordered reads in the order of Key.
	Ordered bool `json:"ordered,omitempty"`
	// Table is the table of a range of blocks: from From and before To, 0 is
	// open. Filenode is the file that the blocks are of; 0 for a table without.
	Table    oid    `json:"table,omitempty"`
	Filenode oid    `json:"filenode,omitempty"`
	From     uint32 `json:"from,omitempty"`
	To       uint32 `json:"to,omitempty"`
}

func (p *splitSpec) encode() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("postgres: encode a split: %v", err))
	}
	return string(text)
}

func decodeSpec(text string) (*splitSpec, error) {
	p := new(splitSpec)
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, connector.Errorf(connector.Permanent, "read a split: %w", err)
	}
	return p, nil
}

// encodePosition makes the position after the row of a key.
func encodePosition(key []string) (connector.Position, error) {
	if err := checkKeyText(key); err != nil {
		return "", err
	}
	text, err := json.Marshal(key)
	return connector.Position(text), err
}

// checkKeyText refuses keys that JSON would change: those of a database whose
// encoding is SQL_ASCII may be anything.
func checkKeyText(key []string) error {
	for _, k := range key {
		if !utf8.ValidString(k) {
			return connector.Errorf(connector.Permanent, "a key is not UTF-8, so it cannot be a position; name another column by key")
		}
	}
	return nil
}

func decodePosition(pos connector.Position, n int) ([]string, error) {
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

// compare is the condition that the key's columns lie on one side of a value.
func compare(columns []column, operator string, key []string) string {
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoteName(c.name)
		values[i] = quoteText(key[i]) + "::" + c.typ.name
	}
	if len(columns) == 1 {
		return names[0] + " " + operator + " " + values[0]
	}
	return "(" + strings.Join(names, ", ") + ") " + operator + " (" + strings.Join(values, ", ") + ")"
}

// conditions are those that select the split's rows after a position.
func (p *splitSpec) conditions(columns []column, after []string) []string {
	var list []string
	switch {
	case p.Null:
		list = append(list, quoteName(p.Key[0])+" IS NULL")
	case p.NotNull:
		list = append(list, quoteName(p.Key[0])+" IS NOT NULL")
	}
	if p.Low != nil && after == nil {
		list = append(list, compare(columns, ">", p.Low))
	}
	if after != nil {
		list = append(list, compare(columns, ">", after))
	}
	if p.High != nil {
		list = append(list, compare(columns, "<=", p.High))
	}
	if p.From > 0 {
		list = append(list, fmt.Sprintf("ctid >= '(%d,0)'::tid", p.From))
	}
	if p.To > 0 {
		list = append(list, fmt.Sprintf("ctid < '(%d,0)'::tid", p.To))
	}
	return list
}
