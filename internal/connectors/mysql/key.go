package mysql

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// keyForm is how the values of a key's column are written down, in splits and
// positions, and how they become literals that the server compares as it
// compares the column's own.
type keyForm uint8

const (
	formNone keyForm = iota
	// formNumber: digits, as the server prints them.
	formNumber
	// formFloat: a number that is compared as a double.
	formFloat
	// formOrdinal: the number of an ENUM's or SET's value, by which the server sorts.
	formOrdinal
	// formQuoted: a text without a collation: times, uuids, addresses.
	formQuoted
	// formText: a text whose characters are all Unicode's, each of one form.
	formText
	// formEncoded: a text in another character set, as hexadecimal digits of its
	// own bytes: several of them may be one character of Unicode.
	formEncoded
	// formBytes: bytes, as hexadecimal digits.
	formBytes
	// formBits: the number that a BIT is, of bytes.
	formBits
)

// keyColumn is a column of a key.
type keyColumn struct {
	column
	form keyForm
}

func (k *keyColumn) named() string { return k.name }

// formOf returns the form of a column's values; formNone for what has no ranges.
func formOf(c *column) keyForm {
	if c.bits {
		return formBits
	}
	switch c.dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year":
		return formNumber
	case "float", "double":
		return formFloat
	case "enum", "set":
		return formOrdinal
	case "date", "datetime", "timestamp", "time", "uuid", "inet4", "inet6":
		return formQuoted
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		switch c.charset {
		case "utf8mb4", "utf8mb3", "utf8", "ascii":
			return formText
		case "":
			return formNone
		}
		return formEncoded
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return formBytes
	case "bit":
		return formBits
	}
	return formNone
}

// expression is what to select for the column's value; "" for the column itself.
func (k *keyColumn) expression() string {
	switch k.form {
	case formOrdinal:
		return quoteName(k.name) + " + 0"
	case formFloat:
		return exactFloat(k.name)
	case formEncoded:
		return "CAST(" + quoteName(k.name) + " AS BINARY)"
	}
	return ""
}

// appendKey appends the text by which a value is noted.
func (k *keyColumn) appendKey(dst, v []byte) ([]byte, error) {
	if v == nil {
		return dst, connector.Errorf(connector.Permanent, "column %s of the key is NULL", k.name)
	}
	switch k.form {
	case formNumber, formOrdinal:
		return appendUnfilled(dst, v), nil
	case formFloat:
		f, err := parseFloat(v)
		if err != nil {
			return dst, fmt.Errorf("column %s of the key: %w", k.name, err)
		}
		return strconv.AppendFloat(dst, f, 'e', -1, 64), nil
	case formBits:
		return strconv.AppendUint(dst, bitsValue(v), 10), nil
	case formBytes, formEncoded:
		return hex.AppendEncode(dst, v), nil
	}
	return append(dst, v...), nil
}

// literal is a noted value as SQL.
func (k *keyColumn) literal(noted string) (string, error) {
	switch k.form {
	case formNumber, formFloat, formOrdinal, formBits:
		if !isNumberText(noted) {
			return "", k.bad(noted)
		}
		if k.form == formFloat && !strings.ContainsAny(noted, "eE") {
			return noted + "e0", nil
		}
		return noted, nil
	case formQuoted:
		return quoteText(noted), nil
	case formText:
		return introduced(k, []byte(noted)), nil
	case formEncoded, formBytes:
		raw, err := hex.DecodeString(noted)
		if err != nil {
			return "", k.bad(noted)
		}
		if k.form == formBytes {
			return quoteBytes(raw), nil
		}
		return introduced(k, raw), nil
	}
	return "", k.bad(noted)
}

// introduced is a text in the column's character set and collation, so that it
// is compared as the column's values are with each other, by its index.
func introduced(k *keyColumn, raw []byte) string {
	literal := "_" + k.charset + " " + quoteBytes(raw)
	if k.collation != "" {
		literal += " COLLATE " + k.collation
	}
	return literal
}

func (k *keyColumn) bad(noted string) error {
	return connector.Errorf(connector.Permanent, "%q is no value of the key's column %s", noted, k.name)
}

// isNumberText reports whether a text is a number as SQL writes it.
func isNumberText(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return false
		}
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// compare is the condition that the key's columns lie on one side of a value,
// in the order of the key. A row comparison would say it too, but the servers
// find no range of an index in it.
func compare(columns []keyColumn, operator string, key []string) (string, error) {
	if len(columns) != len(key) {
		return "", connector.Errorf(connector.Permanent, "a value of %d columns, where the key has %d", len(key), len(columns))
	}
	strict := operator[:1]
	condition := ""
	for i := len(columns) - 1; i >= 0; i-- {
		value, err := columns[i].literal(key[i])
		if err != nil {
			return "", err
		}
		name := columns[i].operand()
		if condition == "" {
			condition = name + " " + operator + " " + value
			continue
		}
		condition = "(" + name + " " + strict + " " + value + " OR (" + name + " = " + value + " AND " + condition + "))"
	}
	return condition, nil
}

// operand is the column in a comparison: an ENUM would else be compared by its text.
func (k *keyColumn) operand() string {
	if k.form == formOrdinal {
		return "(" + quoteName(k.name) + " + 0)"
	}
	return quoteName(k.name)
}

// conditionsOf are those that select a range's rows after a position.
func conditionsOf(r *database.Range, columns []keyColumn, after []string) ([]string, error) {
	first := ""
	if len(columns) > 0 {
		first = quoteName(columns[0].name)
	}
	return r.Conditions(first, func(operator string, key []string) (string, error) { return compare(columns, operator, key) }, after)
}
