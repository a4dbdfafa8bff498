package postgres

import (
	"errors"
	"fmt"
	"strings"
)

// maxName is the length of the longest name, in bytes. More is cut off.
const maxName = 63

// name is a relation's name, its case kept. An empty schema is whatever the
// search path finds.
type name struct {
	schema string
	table  string
}

// parseName reads schema.table or table; each part may stand in double quotes,
// which it needs when it holds a dot or a quote. Case is kept in both forms.
func parseName(text string) (name, error) {
	var parts []string
	rest := strings.TrimSpace(text)
	for {
		part, after, err := namePart(rest)
		if err != nil {
			return name{}, err
		}
		if len(part) > maxName {
			return name{}, fmt.Errorf("the name %q is longer than the %d bytes that PostgreSQL keeps of one", part, maxName)
		}
		parts = append(parts, part)
		if after == "" {
			break
		}
		rest = after[1:]
	}
	switch len(parts) {
	case 1:
		return name{table: parts[0]}, nil
	case 2:
		return name{schema: parts[0], table: parts[1]}, nil
	}
	return name{}, errors.New("a table's name has at most a schema before it: schema.table")
}

// namePart reads one part and returns what follows it: nothing, or from a dot.
func namePart(text string) (part, after string, err error) {
	if !strings.HasPrefix(text, `"`) {
		part, _, _ = strings.Cut(text, ".")
		if part == "" {
			return "", "", errors.New("a name is empty")
		}
		if strings.Contains(part, `"`) {
			return "", "", errors.New("a quote stands within a name that does not begin with one")
		}
		return part, text[len(part):], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			b.WriteByte('"')
			i++
			continue
		}
		after = text[i+1:]
		if b.Len() == 0 {
			return "", "", errors.New("a name is empty")
		}
		if after != "" && (after[0] != '.' || len(after) == 1) {
			return "", "", errors.New("after a name's closing quote only a dot and a name may follow")
		}
		return b.String(), after, nil
	}
	return "", "", errors.New("a quoted name does not end")
}

// String returns the name as SQL, quoted.
func (n name) String() string {
	if n.schema == "" {
		return quoteName(n.table)
	}
	return quoteName(n.schema) + "." + quoteName(n.table)
}

// quoteName quotes an identifier.
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// quoteNames quotes identifiers and joins them with commas.
func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteName(n)
	}
	return strings.Join(quoted, ", ")
}

// quoteText quotes a string literal; sessions have standard_conforming_strings on.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// listed joins names for a message, the first of many only.
func listed(names []string) string {
	const most = 30
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
