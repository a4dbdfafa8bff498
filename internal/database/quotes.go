package database

import (
	"errors"
	"fmt"
	"strings"
)

// Quotes is how a server's names are written.
type Quotes struct {
	// Mark stands around a name, and twice for itself within one; Word is what
	// people call it.
	Mark byte
	Word string
	// Above is what a table belongs to: a schema, a database.
	Above string
	// Check refuses what cannot be a name.
	Check func(part string) error
}

// Name quotes an identifier.
func (q Quotes) Name(s string) string {
	mark := string(q.Mark)
	return mark + strings.ReplaceAll(s, mark, mark+mark) + mark
}

// Names quotes identifiers and joins them with commas.
func (q Quotes) Names(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = q.Name(n)
	}
	return strings.Join(quoted, ", ")
}

// Table quotes a table's name, with what it belongs to unless that is "".
func (q Quotes) Table(above, table string) string {
	if above == "" {
		return q.Name(table)
	}
	return q.Name(above) + "." + q.Name(table)
}

// Parse reads above.table or table; each part may stand in quotes, which it
// needs when it holds a dot or a quote. Case is kept in both forms.
func (q Quotes) Parse(text string) (above, table string, err error) {
	var parts []string
	rest := strings.TrimSpace(text)
	for {
		part, after, err := q.part(rest)
		if err == nil {
			err = q.Check(part)
		}
		if err != nil {
			return "", "", err
		}
		parts = append(parts, part)
		if after == "" {
			break
		}
		rest = after[1:]
	}
	switch len(parts) {
	case 1:
		return "", parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	}
	return "", "", fmt.Errorf("a table's name has at most a %[1]s before it: %[1]s.table", q.Above)
}

// part reads one part and returns what follows it: nothing, or from a dot.
func (q Quotes) part(text string) (part, after string, err error) {
	if !strings.HasPrefix(text, string(q.Mark)) {
		part, _, _ = strings.Cut(text, ".")
		if part == "" {
			return "", "", errNoName
		}
		if strings.IndexByte(part, q.Mark) >= 0 {
			return "", "", fmt.Errorf("a %s stands within a name that does not begin with one", q.Word)
		}
		return part, text[len(part):], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != q.Mark {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == q.Mark {
			b.WriteByte(q.Mark)
			i++
			continue
		}
		after = text[i+1:]
		if b.Len() == 0 {
			return "", "", errNoName
		}
		if after != "" && (after[0] != '.' || len(after) == 1) {
			return "", "", fmt.Errorf("after a name's closing %s only a dot and a name may follow", q.Word)
		}
		return b.String(), after, nil
	}
	return "", "", errors.New("a quoted name does not end")
}

var errNoName = errors.New("a name is empty")

// Listed joins names for a message, the first of many only.
func Listed(names []string) string {
	const most = 30
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
