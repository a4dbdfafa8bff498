package mysql

import (
	"strings"
)

// column is a column of a table, view or query, as the catalogue has it.
type column struct {
	name string
	// dataType is the type's name alone, in lower case: int, varchar, enum.
	dataType string
	// columnType is the whole declaration: int(10) unsigned, enum('a','b').
	columnType string
	unsigned   bool
	zerofill   bool
	// length is that of texts in characters and of bytes in bytes.
	length int64
	// precision and scale are those of numbers, precision also that of bit(n);
	// fraction is the digits of the seconds of a time.
	precision, scale, fraction int
	// charset and collation are those of texts, "" for others.
	charset, collation string
	notNull            bool
	generated          bool // computed by the table: cannot be written
	autoIncrement      bool
	defaulted          bool // by a default or as an AUTO_INCREMENT
	// json says that a longtext of MariaDB was declared as JSON.
	json bool
	// bits says that a number comes as the bytes of a BIT.
	bits bool
}

// newColumn makes a column of a row of columnsQuery.
func newColumn(row [][]byte) (column, error) {
	c := column{
		name: string(row[0]), dataType: strings.ToLower(string(row[1])), columnType: string(row[2]), notNull: !isTrue(row[3]),
		charset: string(row[8]), collation: string(row[9]), defaulted: row[11] != nil,
	}
	var numbers [4]int64
	for i := range numbers {
		n, err := number(row[4+i])
		if err != nil {
			return c, err
		}
		numbers[i] = n
	}
	c.length, c.precision, c.scale, c.fraction = numbers[0], int(numbers[1]), int(numbers[2]), int(numbers[3])
	_, attributes, _ := strings.Cut(c.columnType, " ")
	if c.isNumber() {
		c.unsigned = strings.Contains(attributes, "unsigned")
		c.zerofill = strings.Contains(attributes, "zerofill")
	}
	extra := strings.ToLower(string(row[10]))
	c.generated = strings.Contains(extra, "virtual generated") || strings.Contains(extra, "stored generated") || strings.Contains(extra, "persistent")
	c.autoIncrement = strings.Contains(extra, "auto_increment")
	// MariaDB tells of the default NULL by that word, MySQL not at all.
	c.defaulted = c.autoIncrement || c.defaulted && string(row[11]) != "NULL" || !c.notNull
	return c, nil
}

// isNumber reports whether the type has the attributes of numbers.
func (c *column) isNumber() bool {
	switch c.dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double":
		return true
	}
	return false
}
