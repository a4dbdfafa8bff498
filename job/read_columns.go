package job

import (
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector/option"
)

// columnSection declares the keys of a column that is written as a map.
type columnSection struct {
	Name  string  `option:"name" doc:"the column's name in the target; by default that of from"`
	From  string  `option:"from" doc:"the source's column; by default that of name"`
	Cast  string  `option:"cast" doc:"type to convert to: decimal(15,2), timestamp(6), text …"`
	Value *string `option:"value" doc:"a constant instead of a source column; null is NULL"`
}

// readColumns reads the columns section: a list of names and maps.
func readColumns(n *node, p *problems) []Column {
	if n.shape != list {
		p.add(n.line, "columns is %s where a list is wanted", shapeNames[n.shape])
		return nil
	}
	if len(n.items) == 0 {
		p.add(n.line, "columns is empty; leave it out for all columns")
	}
	var columns []Column
	for _, item := range n.items {
		c, ok := readColumn(item, p)
		if !ok {
			continue
		}
		if slices.ContainsFunc(columns, func(d Column) bool { return d.Name == c.Name }) {
			p.add(item.line, "column %q stands twice in columns", c.Name)
			continue
		}
		columns = append(columns, c)
	}
	return columns
}

func readColumn(n *node, p *problems) (Column, bool) {
	switch {
	case n.shape == scalar && n.text != "":
		return Column{Name: n.text, From: n.text}, true
	case n.shape != mapping:
		p.add(n.line, "a column is a name, or a map of name, from, cast, value")
		return Column{}, false
	}
	var s columnSection
	if !parseSection(n, "column", &s, p) {
		return Column{}, false
	}
	c := Column{Name: s.Name, From: s.From}
	value := n.get("value")
	if s.Cast != "" {
		t, err := batch.ParseType(s.Cast)
		if err != nil {
			p.add(n.get("cast").line, "%v", err)
			return Column{}, false
		}
		c.Cast, c.HasCast = t, true
	}
	if value != nil {
		return readConstant(c, value, n, p)
	}
	if c.From == "" {
		c.From = c.Name
	}
	if c.Name == "" {
		c.Name = c.From
	}
	if c.Name == "" || c.Name == All || c.From == All {
		p.add(n.line, `a column needs a name or a from; for all columns write "*" alone`)
		return Column{}, false
	}
	return c, true
}

// readConstant takes the constant's type from its form when no cast gives one.
func readConstant(c Column, value *entry, n *node, p *problems) (Column, bool) {
	switch {
	case c.From != "":
		p.add(value.line, "a column has either from or value, not both")
		return Column{}, false
	case c.Name == "" || c.Name == All:
		p.add(n.line, "a constant needs a name")
		return Column{}, false
	case value.value.shape != scalar && value.value.shape != null:
		p.add(value.line, "value is %s where one value is wanted", shapeNames[value.value.shape])
		return Column{}, false
	}
	c.Constant = true
	if value.value.shape == scalar {
		c.Value = []byte(value.value.text)
	}
	if !c.HasCast {
		c.Cast = constantType(value.value)
	}
	return c, true
}

// constantType is the type of an unquoted constant's form: true is a bool, 12
// an int64, 1.50 a decimal, anything else a text.
func constantType(n *node) batch.Type {
	if n.shape != scalar || n.quoted {
		return batch.Of(batch.Text)
	}
	if n.text == "true" || n.text == "false" {
		return batch.Of(batch.Bool)
	}
	digits := strings.TrimPrefix(n.text, "-")
	whole, fraction, isDecimal := strings.Cut(digits, ".")
	if !allDigits(whole) || len(whole) > 1 && whole[0] == '0' {
		return batch.Of(batch.Text)
	}
	if isDecimal {
		if !allDigits(fraction) {
			return batch.Of(batch.Text)
		}
		return batch.Of(batch.Decimal)
	}
	if _, err := strconv.ParseInt(n.text, 10, 64); err != nil {
		return batch.Of(batch.Decimal)
	}
	return batch.Of(batch.Int64)
}

func allDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// ColumnKeys describes the keys of a column that is written as a map.
func ColumnKeys() []option.Doc { return option.Describe(&columnSection{}) }
