package mysql

import (
	"math"
	"strings"
)

// newEncoder returns the encoder of a column. Types that are not named go as
// texts, which the server judges.
func newEncoder(c *column, server version, tinyint string) encoder {
	e := encoder{form: fieldPlain}
	switch {
	case e.number(c, tinyint), e.time(c, server), e.text(c, server), e.bytes(c):
	default:
		e.check, e.form = checkText, fieldText
	}
	return e
}

// integerBits are the sizes of the integer types.
var integerBits = map[string]uint{ //nolint:gochecknoglobals // a constant table
	"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64,
}

func (e *encoder) number(c *column, tinyint string) bool {
	e.unsigned, e.precision, e.scale = c.unsigned, c.precision, c.scale
	if bits, ok := integerBits[c.dataType]; ok {
		e.append = appendInt
		if c.isBoolean() && tinyint != tinyintInt {
			e.append = appendBool
		}
		e.max = math.MaxUint64 >> (64 - bits)
		if !c.unsigned {
			e.max >>= 1
			e.min = -int64(e.max) - 1
		}
		return true
	}
	switch c.dataType {
	case "decimal":
		e.append = appendDecimal
	case "float", "double":
		e.append, e.bits = appendFloat, 64
		if c.dataType == "float" {
			e.bits = 32
		}
		if !strings.Contains(c.columnType, ",") {
			e.precision, e.scale = 0, 0
		}
	case "year":
		e.append = appendYear
	case "bit":
		e.append, e.bits, e.form = appendBits, c.precision, fieldBytes
		if c.precision == 1 {
			e.append = appendFlag
		}
	default:
		return false
	}
	return true
}

func (e *encoder) time(c *column, server version) bool {
	e.fraction, e.unit = c.fraction, 1
	for range 6 - c.fraction {
		e.unit *= 10
	}
	switch c.dataType {
	case "date":
		e.append = appendDate
	case "time":
		e.append = appendTime
	case "datetime":
		e.append = appendDatetime
	case "timestamp":
		e.append, e.last = appendMoment, lastStamp
		if server.mariaDB && server.number >= 110500 {
			e.last = lastStamp64
		}
	default:
		return false
	}
	return true
}

func (e *encoder) text(c *column, server version) bool {
	switch c.dataType {
	case "char", "varchar":
		e.check, e.chars, e.fixed = checkText, int(c.length), c.dataType == "char"
	case "tinytext", "text", "mediumtext", "longtext":
		e.check, e.octets = checkText, int(min(c.length, math.MaxInt32))
	case "json":
		e.check, e.form = checkJSON, fieldText
	case "enum", "set":
		e.check, e.members = checkSet, members(c.columnType)
		if c.dataType == "enum" {
			e.check = checkEnum
		}
	case "uuid":
		// A string of bytes would be taken for the sixteen of the value.
		e.append, e.form = appendUUID, fieldText
		return true
	default:
		return false
	}
	if c.json {
		e.check = checkJSON
	}
	switch c.charset {
	case "utf8mb4":
	case "utf8mb3", "utf8":
		e.charset = charsetThree
	case "ascii":
		e.charset = charsetASCII
	default:
		e.charset, e.form = charsetOther, fieldText
		e.octets = 0
	}
	return true
}

func (e *encoder) bytes(c *column) bool {
	switch {
	case c.dataType == "binary", c.dataType == "varbinary":
		e.octets, e.fixed = int(c.length), c.dataType == "binary"
	case strings.HasSuffix(c.dataType, "blob"):
		e.octets = int(min(c.length, math.MaxInt32))
	case strings.Contains(geometries, " "+c.dataType+" "):
	default:
		return false
	}
	e.check, e.form = checkBytes, fieldBytes
	return true
}
