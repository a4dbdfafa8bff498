package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sqldriver "database/sql/driver"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// queryShape finds the columns of the user's query.
func (s *Source) queryShape(ctx context.Context, session *session) (*shape, error) {
	query := strings.TrimRight(s.options.Query, "; \t\r\n")
	sh := &shape{Keyed: database.Keyed{What: "the query"}, query: query, from: "(\n" + query + "\n) AS leat_query", qualifier: "leat_query"}
	all, err := session.describe(ctx, "SELECT * FROM "+sh.from+" LIMIT 0")
	if err != nil {
		if c := classify(err); c != connector.Permanent {
			return nil, wrap("query", err)
		}
		hint := ""
		if numberOf(err) == errTwice {
			hint = "; name one of them otherwise by AS"
		}
		return nil, connector.Errorf(connector.Usage, "query: %w%s", err, hint)
	}
	if err := sh.setKey(s.options.Key, all); err != nil {
		return nil, err
	}
	sh.byFirst()
	sh.columns = all
	if !s.direct(sh) {
		sh.columns = s.chosen(all)
	}
	sh.schema, err = schemaOf(sh.columns, s.options.TinyInt1)
	return sh, err
}

// errTwice is the error of a derived table with two columns of one name.
const errTwice = 1060

// direct reports whether a query is run as it is. As a derived table it would
// lose its order; but only so are there conditions, ranges and exact floats.
func (s *Source) direct(sh *shape) bool {
	return sh.query != "" && s.where == "" && len(sh.Key) == 0 &&
		!slices.ContainsFunc(sh.columns, func(c column) bool { return c.dataType == "float" })
}

// typed is what the driver tells of the columns of a result.
type typed interface {
	sqldriver.Rows
	sqldriver.RowsColumnTypeDatabaseTypeName
	sqldriver.RowsColumnTypeNullable
	sqldriver.RowsColumnTypePrecisionScale
}

// describe returns the columns of a query's result.
func (s *session) describe(ctx context.Context, query string) (columns []column, err error) {
	err = s.conn.Raw(func(conn any) error {
		rows, err := queryRaw(ctx, conn, query)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		result, ok := rows.(typed)
		if !ok {
			return fmt.Errorf("the driver does not tell the types of %T", rows)
		}
		for i, name := range rows.Columns() {
			columns = append(columns, resultColumn(result, i, name))
		}
		return nil
	})
	return columns, err
}

// queryRaw runs a query on a connection of the driver.
func queryRaw(ctx context.Context, conn any, query string) (sqldriver.Rows, error) {
	q, ok := conn.(sqldriver.QueryerContext)
	if !ok {
		return nil, fmt.Errorf("the driver's %T runs no queries", conn)
	}
	return q.QueryContext(ctx, query, nil)
}

// resultColumn makes a column of what the driver tells of it. The protocol does
// not tell all: not the values of an ENUM, nor the length of a text.
func resultColumn(rows typed, i int, name string) column {
	c := column{name: name}
	kind := strings.ToLower(rows.ColumnTypeDatabaseTypeName(i))
	c.dataType, c.unsigned = strings.CutPrefix(kind, "unsigned ")
	nullable, known := rows.ColumnTypeNullable(i)
	c.notNull = known && !nullable
	precision, scale, ok := rows.ColumnTypePrecisionScale(i)
	switch c.dataType {
	case "decimal":
		// The driver does not see whether there is room for a sign.
		c.precision, c.scale = int(min(precision+1, maxDigits)), int(scale)
	case "time", "datetime", "timestamp":
		c.fraction = 6
		if ok && scale <= 6 {
			c.fraction = int(scale)
		}
	case "bit":
		// Of how many bits is not told: it is read as the number that it is.
		c.dataType, c.unsigned, c.bits = "bigint", true, true
	case "enum", "set", "char", "varchar", "null":
		c.dataType, c.charset = "longtext", "utf8mb4"
	case "tinytext", "text", "mediumtext", "longtext":
		c.dataType, c.charset = "longtext", "utf8mb4"
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob":
		c.dataType = "longblob"
	}
	c.columnType = c.dataType
	return c
}

// maxDigits is the largest precision of a DECIMAL.
const maxDigits = 65
