package postgres

import (
	"fmt"
	"strings"

	"github.com/leatdata/leat/internal/database"
)

// maxName is the length of the longest name, in bytes. More is cut off.
const maxName = 63

// name is a relation's name, its case kept. An empty schema is whatever the
// search path finds.
type name struct {
	schema string
	table  string
}

// quotes is how PostgreSQL's names are written.
func quotes() database.Quotes {
	return database.Quotes{Mark: '"', Word: "quote", Above: "schema", Check: checkName}
}

// checkName refuses what PostgreSQL would cut.
func checkName(part string) error {
	if len(part) > maxName {
		return fmt.Errorf("the name %q is longer than the %d bytes that PostgreSQL keeps of one", part, maxName)
	}
	return nil
}

// parseName reads schema.table or table; each part may stand in double quotes,
// which it needs when it holds a dot or a quote. Case is kept in both forms.
func parseName(text string) (name, error) {
	above, table, err := quotes().Parse(text)
	return name{schema: above, table: table}, err
}

// checkTable refuses what parseName cannot read.
func checkTable(text string) error {
	_, err := parseName(text)
	return err
}

// String returns the name as SQL, quoted.
func (n name) String() string { return quotes().Table(n.schema, n.table) }

// quoteName quotes an identifier.
func quoteName(s string) string { return quotes().Name(s) }

// quoteNames quotes identifiers and joins them with commas.
func quoteNames(names []string) string { return quotes().Names(names) }

// quoteText quotes a string literal; sessions have standard_conforming_strings on.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
