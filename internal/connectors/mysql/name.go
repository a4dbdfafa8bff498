package mysql

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leatdata/leat/internal/database"
)

// maxName is the length of the longest name, in characters.
const maxName = 64

// name is a table's or view's name. An empty database is the connection's.
type name struct {
	database string
	table    string
}

// quotes is how the servers' names are written.
func quotes() database.Quotes {
	return database.Quotes{Mark: '`', Word: "backquote", Above: "database", Check: checkName}
}

// parseName reads database.table or table; each part may stand in backquotes,
// which it needs when it holds a dot or a backquote, one written twice.
func parseName(text string) (name, error) {
	above, table, err := quotes().Parse(text)
	return name{database: above, table: table}, err
}

// checkTable refuses what parseName cannot read.
func checkTable(text string) error {
	_, err := parseName(text)
	return err
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

// String returns the name as SQL, quoted.
func (n name) String() string { return quotes().Table(n.database, n.table) }

// quoteName quotes an identifier.
func quoteName(s string) string { return quotes().Name(s) }

// quoteNames quotes identifiers and joins them with commas.
func quoteNames(names []string) string { return quotes().Names(names) }

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
