package mysql

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName is the length of the longest name, in characters.
const maxName = 64

// name is a table's or view's name. An empty database is the connection's.
type name struct {
	database string
	table    string
}

// parseName reads database.table or table; each part may stand in backquotes,
// which it needs when it holds a dot or a backquote, one written twice.
func parseName(text string) (name, error) {
	var parts []string
	rest := strings.TrimSpace(text)
	for {
		part, after, err := namePart(rest)
		if err == nil {
			err = checkName(part)
		}
		if err != nil {
			return name{}, err
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
		return name{database: parts[0], table: parts[1]}, nil
	}
	return name{}, errors.New("a table's name has at most a database before it: database.table")
}

// checkName refuses what the server cannot have as a name.
func checkName(part string) error {
	switch {
	case !utf8.ValidString(part) || strings.ContainsRune(part, 0):
		return fmt.Errorf("the name %q is not text", part)
	case utf8.RuneCountInString(part) > maxName:
		return fmt.Errorf("the name %q is longer than the %d characters that a name may have", part, maxName)
	case strings.HasSuffix(part, " "):
		return fmt.Errorf("the name %q ends in a space, which no name may", part)
	}
	return nil
}

// namePart reads one part and returns what follows it: nothing, or from a dot.
func namePart(text string) (part, after string, err error) {
	if !strings.HasPrefix(text, "`") {
		part, _, _ = strings.Cut(text, ".")
		if part == "" {
			return "", "", errors.New("a name is empty")
		}
		if strings.Contains(part, "`") {
			return "", "", errors.New("a backquote stands within a name that does not begin with one")
		}
		return part, text[len(part):], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '`' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '`' {
			b.WriteByte('`')
			i++
			continue
		}
		after = text[i+1:]
		if b.Len() == 0 {
			return "", "", errors.New("a name is empty")
		}
		if after != "" && (after[0] != '.' || len(after) == 1) {
			return "", "", errors.New("after a name's closing backquote only a dot and a name may follow")
		}
		return b.String(), after, nil
	}
	return "", "", errors.New("a quoted name does not end")
}

// String returns the name as SQL, quoted.
func (n name) String() string {
	if n.database == "" {
		return quoteName(n.table)
	}
	return quoteName(n.database) + "." + quoteName(n.table)
}

// quoteName quotes an identifier.
func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// quoteNames quotes identifiers and joins them with commas.
func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quoteName(n)
	}
	return strings.Join(quoted, ", ")
}

// quoteText is a text in utf8mb4 as a literal. It does not depend on sql_mode:
// where the text has a backslash or a quote it is written in hexadecimal digits.
func quoteText(s string) string {
	if strings.ContainsAny(s, `\'`+"\x00\x1a") {
		return "_utf8mb4 x'" + hex.EncodeToString([]byte(s)) + "'"
	}
	return "'" + s + "'"
}

// quoteBytes is a string of bytes as a literal.
func quoteBytes(b []byte) string { return "x'" + hex.EncodeToString(b) + "'" }

// listed joins names for a message, the first of many only.
func listed(names []string) string {
	const most = 30
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
