package sqlite

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/leatdata/leat/batch"
)

// affinity is what SQLite tries to turn values into that are stored in a
// column (https://www.sqlite.org/datatype3.html, section 3).
type affinity uint8

const (
	// blobAffinity leaves values as they are.
	blobAffinity affinity = iota
	textAffinity
	numericAffinity
	integerAffinity
	realAffinity
)

// affinityOf follows SQLite's rules, in their order. In a STRICT table ANY
// leaves values as they are.
func affinityOf(declared string, strict bool) affinity {
	d := strings.ToUpper(declared)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(d, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return integerAffinity
	case has("CHAR", "CLOB", "TEXT"):
		return textAffinity
	case d == "", has("BLOB"), strict && d == "ANY":
		return blobAffinity
	case has("REAL", "FLOA", "DOUB"):
		return realAffinity
	}
	return numericAffinity
}

// typeOf returns the type that a declaration stands for. SQLite enforces no
// length and no size of integers, so that neither is part of it.
func typeOf(declared string, a affinity) batch.Type {
	name, bounds, _ := strings.Cut(strings.ToUpper(strings.Join(strings.Fields(declared), " ")), "(")
	name = strings.TrimSpace(name)
	if name == "INTERVAL" {
		return batch.Of(batch.Interval)
	}
	switch a {
	case integerAffinity:
		return batch.Of(batch.Int64)
	case textAffinity:
		return batch.Of(batch.Text)
	case realAffinity:
		return batch.Of(batch.Float64)
	case blobAffinity:
		if strings.Contains(name, "BLOB") {
			return batch.Of(batch.Bytes)
		}
		return batch.Of(batch.Untyped)
	}
	return numericType(name, bounds)
}

// numericType tells the declarations apart that all have numeric affinity.
func numericType(name, bounds string) batch.Type {
	_, zone, _ := strings.Cut(bounds, ")")
	if strings.TrimSpace(zone) == "WITH TIME ZONE" {
		name += " WITH TIME ZONE"
	}
	switch name {
	case "BOOL", "BOOLEAN":
		return batch.Of(batch.Bool)
	case "DATE":
		return batch.Of(batch.Date)
	case "TIME":
		return batch.Of(batch.Time)
	case "DATETIME", "TIMESTAMP":
		return batch.Of(batch.Timestamp)
	case "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE":
		return batch.Of(batch.Instant)
	case "UUID":
		return batch.Of(batch.UUID)
	case "JSON":
		return batch.Of(batch.JSON)
	case "DECIMAL", "NUMERIC", "NUMBER", "DEC":
		return decimalType(bounds)
	}
	return batch.Of(batch.Text)
}

// decimalType reads the 10,2) of DECIMAL(10,2).
func decimalType(bounds string) batch.Type {
	t := batch.Of(batch.Decimal)
	inner, _, ok := strings.Cut(bounds, ")")
	if !ok {
		return t
	}
	p, s, _ := strings.Cut(inner, ",")
	precision, err := strconv.Atoi(strings.TrimSpace(p))
	if err != nil || precision < 1 {
		return t
	}
	scale := 0
	if s != "" {
		if scale, err = strconv.Atoi(strings.TrimSpace(s)); err != nil {
			return t
		}
	}
	t.Precision, t.Scale = precision, scale
	return t
}

// declarationFor returns the type to declare for cells of a type, such that
// no value changes by being stored: texts of numbers stay texts.
func declarationFor(t batch.Type) string {
	switch k := t.Kind; {
	case k == batch.Bool:
		return "BOOLEAN"
	case k.IsInteger():
		return "INTEGER"
	case k.IsFloat():
		return "REAL"
	case k == batch.Bytes:
		return "BLOB"
	}
	return "TEXT"
}

// looksNumeric reports whether SQLite would turn a text into a number in a
// column of numeric, integer or real affinity: a sign, digits, a point and an
// exponent, with spaces around. It reads no further than to a zero byte.
func looksNumeric(text []byte) bool {
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	i, n := 0, len(text)
	space := func() {
		for i < n && (text[i] == ' ' || text[i] >= '\t' && text[i] <= '\r') {
			i++
		}
	}
	digits := func() int {
		start := i
		for i < n && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		return i - start
	}
	sign := func() {
		if i < n && (text[i] == '-' || text[i] == '+') {
			i++
		}
	}
	space()
	sign()
	count := digits()
	if i < n && text[i] == '.' {
		i++
		count += digits()
	}
	if count == 0 {
		return false
	}
	if i < n && text[i]|0x20 == 'e' {
		i++
		sign()
		if digits() == 0 {
			return false
		}
	}
	space()
	return i == n
}
