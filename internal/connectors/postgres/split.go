package postgres

import (
	"fmt"
	"strings"

	"github.com/leatdata/leat/internal/database"
)

// splitSpec is what a split reads, as a value: a range of the key, or of blocks.
type splitSpec struct {
	database.Range
	// Table is the table of a range of blocks: from From and before To, 0 is
	// open. Filenode is the file that the blocks are of; 0 for a table without.
	Table    oid    `json:"table,omitempty"`
	Filenode oid    `json:"filenode,omitempty"`
	From     uint32 `json:"from,omitempty"`
	To       uint32 `json:"to,omitempty"`
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
func (p *splitSpec) conditions(columns []column, after []string) ([]string, error) {
	first := ""
	if len(columns) > 0 {
		first = quoteName(columns[0].name)
	}
	list, err := p.Conditions(first, func(operator string, key []string) (string, error) { return compare(columns, operator, key), nil }, after)
	if p.From > 0 {
		list = append(list, fmt.Sprintf("ctid >= '(%d,0)'::tid", p.From))
	}
	if p.To > 0 {
		list = append(list, fmt.Sprintf("ctid < '(%d,0)'::tid", p.To))
	}
	return list, err
}
