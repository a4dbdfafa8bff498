package mysql

import (
	"encoding/json"
	"fmt"

	"github.com/leatdata/leat/connector"
)

// splitSpec is what a split reads, as a value. The zero one reads everything.
type splitSpec struct {
	// Key names the columns of a range; rows lie after Low and up to and with
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

func (p *splitSpec) encode() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("mysql: encode a split: %v", err))
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

// conditions are those that select the split's rows after a position.
func (p *splitSpec) conditions(columns []keyColumn, after []string) ([]string, error) {
	var list []string
	switch {
	case p.Null:
		list = append(list, quoteName(p.Key[0])+" IS NULL")
	case p.NotNull:
		list = append(list, quoteName(p.Key[0])+" IS NOT NULL")
	}
	low := p.Low
	if after != nil {
		low = after
	}
	for _, bound := range []struct {
		operator string
		key      []string
	}{{">", low}, {"<=", p.High}} {
		if bound.key == nil {
			continue
		}
		condition, err := compare(columns, bound.operator, bound.key)
		if err != nil {
			return nil, err
		}
		list = append(list, condition)
	}
	return list, nil
}
