package mysql

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// unescaped reads a field as LOAD DATA does; false where it would end early.
func unescaped(field []byte) ([]byte, bool) {
	out := []byte{}
	for i := 0; i < len(field); i++ {
		switch c := field[i]; c {
		case '\t', '\n', '\'', 0:
			return nil, false
		case '\\':
			i++
			if i == len(field) {
				return nil, false
			}
			switch field[i] {
			case '0':
				out = append(out, 0)
			case 't':
				out = append(out, '\t')
			case 'n':
				out = append(out, '\n')
			case '\\', '\'':
				out = append(out, field[i])
			default:
				return nil, false
			}
		default:
			out = append(out, c)
		}
	}
	return out, true
}

// FuzzEscape: a cell comes out of LOAD DATA as it went in, and never as NULL.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"", `\N`, "a\tb\nc\\d'e\x00f", "plain text of some length, and more", "\n\n\n\n\n\n\n\n", "ä'ö\\ü😀\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, cell []byte) {
		field := appendEscaped(nil, cell)
		if got, ok := unescaped(field); !ok || !bytes.Equal(got, cell) {
			t.Errorf("%q is escaped to %q, which is read as %q", cell, field, got)
		}
		if string(field) == `\N` {
			t.Errorf("%q is read as NULL", cell)
		}
		if escapedLength(cell) != len(field) {
			t.Errorf("%q: %d bytes were foretold, and are %d", cell, escapedLength(cell), len(field))
		}
	})
}

// FuzzCells: whatever a cell holds, no encoder lets it out of its field.
func FuzzCells(f *testing.F) {
	for _, seed := range []string{"", "1", "-1.50", "2024-02-29 12:00:00.5", "2024-02-29 12:00:00+00", "23:59:60", "0101", "{}", "a,b", "\t", "1\t2", `\N`, "1e5", "f47ac10b-58cc-4372-a567-0e02b2c3d479"} {
		f.Add([]byte(seed))
	}
	columns := []column{
		{dataType: "int"},
		{dataType: "bigint", unsigned: true},
		{dataType: "tinyint", columnType: "tinyint(1)"},
		{dataType: "decimal", precision: 10, scale: 2},
		{dataType: "float"},
		{dataType: "double"},
		{dataType: "float", columnType: "float(7,2)", precision: 7, scale: 2},
		{dataType: "bit", precision: 9},
		{dataType: "bit", precision: 1},
		{dataType: "year"},
		{dataType: "date"},
		{dataType: "time", fraction: 3},
		{dataType: "datetime", fraction: 6},
		{dataType: "timestamp"},
		{dataType: "char", length: 3, charset: "utf8mb4"},
		{dataType: "text", length: 65535, charset: "utf8mb3"},
		{dataType: "varchar", length: 5, charset: "latin1"},
		{dataType: "binary", length: 3},
		{dataType: "longblob", length: 1 << 32},
		{dataType: "json"},
		{dataType: "uuid"},
		{dataType: "enum", columnType: "enum('a','b')"},
		{dataType: "set", columnType: "set('a','b')"},
		{dataType: "inet6"},
	}
	f.Fuzz(func(t *testing.T, cell []byte) {
		for i := range columns {
			e := newEncoder(&columns[i], version{mariaDB: true, number: 101100}, tinyintBool)
			field, err := e.field(nil, cell)
			if err != nil {
				continue
			}
			text, ok := unescaped(field)
			if !ok || string(field) == `\N` || e.form != fieldBytes && !utf8.Valid(text) {
				t.Errorf("%s: %q becomes %q", columns[i].dataType, cell, field)
			}
		}
	})
}

// FuzzMembers: the labels of an enum are read back from their declaration.
func FuzzMembers(f *testing.F) {
	f.Add("a", "b")
	f.Add("it's", "''")
	f.Add(",", "'),(")
	f.Add(`\`, "\n\x00\r\t")
	f.Fuzz(func(t *testing.T, a, b string) {
		quote := func(s string) string {
			return "'" + strings.NewReplacer("'", "''", `\`, `\\`, "\n", `\n`, "\r", `\r`, "\x00", `\0`).Replace(s) + "'"
		}
		declaration := "enum(" + quote(a) + "," + quote(b) + ")"
		if got := labelsOf(declaration); !slices.Equal(got, []string{a, b}) {
			t.Errorf("%s has the labels %q, want %q and %q", declaration, got, a, b)
		}
	})
}
