package mysql

import (
	"fmt"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// integers are the kinds of the integer types, signed and unsigned.
var integers = map[string][2]batch.Kind{ //nolint:gochecknoglobals // a constant table
	"tinyint": {batch.Int8, batch.Uint8}, "smallint": {batch.Int16, batch.Uint16}, "mediumint": {batch.Int32, batch.Uint32},
	"int": {batch.Int32, batch.Uint32}, "bigint": {batch.Int64, batch.Uint64},
}

// geometries are the types whose values the server gives as it keeps them: a
// number of the reference system in four bytes, then WKB.
const geometries = " geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection "

// batchType returns the column's type of ours; tinyint says what a BOOLEAN is.
func (c *column) batchType(tinyint string) (batch.Type, error) {
	if kinds, ok := integers[c.dataType]; ok {
		return c.integerType(kinds, tinyint), nil
	}
	switch c.dataType {
	case "decimal":
		return batch.Type{Kind: batch.Decimal, Precision: c.precision, Scale: c.scale}, nil
	case "float":
		return batch.Of(batch.Float32), nil
	case "double":
		return batch.Of(batch.Float64), nil
	case "year":
		return batch.Type{Kind: batch.Int16, Name: "year"}, nil
	case "bit":
		if c.precision == 1 {
			return batch.Type{Kind: batch.Bool, Name: "bit"}, nil
		}
		return batch.Type{Kind: batch.Bit, Length: c.precision, Fixed: true}, nil
	case "date":
		return batch.Of(batch.Date), nil
	case "time":
		return batch.Type{Kind: batch.Time, Fraction: c.fraction + 1}, nil
	case "datetime":
		return batch.Type{Kind: batch.Timestamp, Fraction: c.fraction + 1}, nil
	case "timestamp":
		return batch.Type{Kind: batch.Instant, Fraction: c.fraction + 1}, nil
	case "json":
		return batch.Of(batch.JSON), nil
	case "uuid":
		return batch.Of(batch.UUID), nil
	case "inet4", "inet6":
		return batch.Type{Kind: batch.Named, Name: c.dataType}, nil
	case "enum", "set":
		return batch.Type{Kind: batch.Named, Name: c.columnType}, nil
	}
	return c.stringType()
}

func (c *column) integerType(kinds [2]batch.Kind, tinyint string) batch.Type {
	switch {
	case c.unsigned:
		return batch.Of(kinds[1])
	case c.isBoolean() && tinyint != tinyintInt:
		return batch.Of(batch.Bool)
	case c.dataType == "mediumint":
		return batch.Type{Kind: kinds[0], Name: c.dataType}
	}
	return batch.Of(kinds[0])
}

// isBoolean reports whether the column was declared as BOOLEAN, for which the
// servers have TINYINT(1).
func (c *column) isBoolean() bool { return strings.EqualFold(c.columnType, "tinyint(1)") }

// stringType is batchType for texts and bytes. A CHAR comes without the spaces
// at its end, so that its length is not fixed.
func (c *column) stringType() (batch.Type, error) {
	switch c.dataType {
	case "char", "varchar":
		return batch.Type{Kind: batch.Text, Length: int(c.length), Name: nameUnless(c.dataType, "varchar")}, nil
	case "longtext":
		if c.json {
			return batch.Of(batch.JSON), nil
		}
		return batch.Of(batch.Text), nil
	case "tinytext", "text", "mediumtext":
		return batch.Type{Kind: batch.Text, Name: c.dataType}, nil
	case "binary", "varbinary":
		return batch.Type{Kind: batch.Bytes, Length: int(c.length), Fixed: c.dataType == "binary"}, nil
	case "longblob":
		return batch.Of(batch.Bytes), nil
	case "tinyblob", "blob", "mediumblob":
		return batch.Type{Kind: batch.Bytes, Name: c.dataType}, nil
	}
	if strings.Contains(geometries, " "+c.dataType+" ") {
		return batch.Type{Kind: batch.Bytes, Name: c.dataType}, nil
	}
	return batch.Type{}, fmt.Errorf("its type %s is none that is read; name the other columns, or convert it in a query", c.columnType)
}

// nameUnless is the name of a type, "" for the one that the kind stands for.
func nameUnless(dataType, usual string) string {
	if dataType == usual {
		return ""
	}
	return dataType
}

// typeRows is the type map for people.
func typeRows() []connector.TypeRow {
	return []connector.TypeRow{
		{Native: "boolean, tinyint(1)", Type: batch.Of(batch.Bool), Note: "a value other than 0 and 1 is dirty; with tinyint1: int it is int8"},
		{Native: "tinyint, tinyint unsigned", Type: batch.Of(batch.Int8), Note: "uint8 where unsigned, as with the next ones"},
		{Native: "smallint", Type: batch.Of(batch.Int16)},
		{Native: "mediumint, int", Type: batch.Of(batch.Int32)},
		{Native: "bigint", Type: batch.Of(batch.Int64)},
		{Native: "bigint unsigned", Type: batch.Of(batch.Uint64)},
		{Native: "year", Type: batch.Of(batch.Int16)},
		{Native: "decimal(p,s)", Type: batch.Of(batch.Decimal)},
		{Native: "float", Type: batch.Of(batch.Float32), Note: "read as the bits that are stored, not as the six digits that the server prints"},
		{Native: "double", Type: batch.Of(batch.Float64)},
		{Native: "bit(1)", Type: batch.Of(batch.Bool)},
		{Native: "bit(n)", Type: batch.Of(batch.Bit)},
		{Native: "char(n), varchar(n), text", Type: batch.Of(batch.Text), Note: "from any character set"},
		{Native: "binary(n), varbinary(n), blob", Type: batch.Of(batch.Bytes)},
		{Native: "date", Type: batch.Of(batch.Date), Note: "0000-00-00 is kept; 2024-00-00 and 2024-02-31 are dirty"},
		{Native: "time", Type: batch.Of(batch.Time)},
		{Native: "datetime", Type: batch.Of(batch.Timestamp), Note: "as date"},
		{Native: "timestamp", Type: batch.Of(batch.Instant)},
		{Native: "json", Type: batch.Of(batch.JSON), Note: "also MariaDB's, which is longtext with a check"},
		{Native: "uuid", Type: batch.Of(batch.UUID), Note: "of MariaDB"},
		{Native: "enum, set, inet4, inet6", Type: batch.Type{Kind: batch.Named, Name: "by the type's name"}, Note: "by their text"},
		{Native: "geometry, point and others", Type: batch.Of(batch.Bytes), Note: "as stored: the reference system's number in four bytes, then WKB"},
	}
}
