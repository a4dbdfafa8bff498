package sqlite

import (
	"fmt"
	"strings"
)

// renamedTable returns a table's CREATE statement, as sqlite_schema has it,
// for a table of another name. SQLite keeps "CREATE TABLE " and then the
// user's own text from the bare name on.
func renamedTable(sql, name string) (string, error) {
	rest, ok := strings.CutPrefix(sql, "CREATE TABLE ")
	if !ok {
		return "", fmt.Errorf("%q is not a table's definition", sql)
	}
	n, err := identifier(rest)
	if err != nil {
		return "", err
	}
	return "CREATE TABLE " + quote(name) + rest[n:], nil
}

// renamedIndex returns a unique index's CREATE statement with other names for
// the index and its table.
func renamedIndex(sql, name, table string) (string, error) {
	rest, ok := strings.CutPrefix(sql, "CREATE UNIQUE INDEX ")
	if !ok {
		return "", fmt.Errorf("%q is not a unique index's definition", sql)
	}
	n, err := identifier(rest)
	if err != nil {
		return "", err
	}
	rest = skipSpace(rest[n:])
	if len(rest) < 3 || !strings.EqualFold(rest[:2], "ON") {
		return "", fmt.Errorf("%q has no ON after the index's name", sql)
	}
	rest = skipSpace(rest[2:])
	if n, err = identifier(rest); err != nil {
		return "", err
	}
	return "CREATE UNIQUE INDEX " + quote(name) + " ON " + quote(table) + rest[n:], nil
}

// identifier returns the length of the name that a text begins with, quoted
// in any of SQLite's ways or plain.
func identifier(s string) (int, error) {
	if s == "" {
		return 0, fmt.Errorf("a name is missing")
	}
	switch q := s[0]; q {
	case '"', '`', '\'':
		for i := 1; i < len(s); i++ {
			if s[i] != q {
				continue
			}
			if i+1 < len(s) && s[i+1] == q {
				i++
				continue
			}
			return i + 1, nil
		}
		return 0, fmt.Errorf("the name %s has no end", s)
	case '[':
		if i := strings.IndexByte(s, ']'); i > 0 {
			return i + 1, nil
		}
		return 0, fmt.Errorf("the name %s has no end", s)
	}
	n := strings.IndexFunc(s, func(r rune) bool {
		return r < 0x80 && r != '_' && r != '$' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	if n < 0 {
		n = len(s)
	}
	if n == 0 {
		return 0, fmt.Errorf("no name at the start of %q", s)
	}
	return n, nil
}

// skipSpace drops space and comments at the start.
func skipSpace(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n\f")
		switch {
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s, "*/")
		default:
			return s
		}
	}
}
