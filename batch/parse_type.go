package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// maxDigits bounds the numbers in a type's text.
const maxDigits = 9

// ParseType reads a type as people write it and as Type.String prints it:
// decimal(15,2), text(40), timestamp(6), array of int32. Letter case and
// spaces do not matter, SQL's usual names are understood (bigint, varchar,
// numeric, double precision, timestamptz), and int32[] is an array of int32.
// The types it cannot read are the Named ones: their names are each system's own.
func ParseType(text string) (Type, error) {
	t, err := parseType(strings.Join(strings.Fields(strings.ToLower(text)), " "), 0)
	if err != nil {
		return Type{}, fmt.Errorf("type %q: %w", text, err)
	}
	return t, nil
}

func parseType(text string, depth int) (Type, error) {
	if depth > 16 {
		return Type{}, fmt.Errorf("arrays are nested too deeply")
	}
	elem, isArray := strings.CutPrefix(text, "array of ")
	if !isArray {
		elem, isArray = strings.CutSuffix(text, "[]")
	}
	if isArray {
		e, err := parseType(strings.TrimSpace(elem), depth+1)
		if err != nil {
			return Type{}, err
		}
		return Type{Kind: Array, Elem: &e}, nil
	}
	name, bounds, err := cutBounds(text)
	if err != nil {
		return Type{}, err
	}
	k, ok := kindOf(name)
	if !ok {
		return Type{}, fmt.Errorf("unknown; known are %s", strings.Join(writable(), ", "))
	}
	return bounded(k, bounds)
}

// cutBounds splits "decimal(15, 2)" into its name and the numbers in parentheses.
func cutBounds(text string) (string, []int, error) {
	name, rest, ok := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	if !ok {
		return name, nil, nil
	}
	inner, after, ok := strings.Cut(rest, ")")
	if !ok || strings.TrimSpace(after) != "" {
		return "", nil, fmt.Errorf("the parenthesis does not end the text")
	}
	var bounds []int
	for part := range strings.SplitSeq(inner, ",") {
		part = strings.TrimSpace(part)
		n, err := strconv.Atoi(part)
		if err != nil || len(part) > maxDigits || part[0] == '+' {
			return "", nil, fmt.Errorf("%q is not a number that bounds a type", part)
		}
		bounds = append(bounds, n)
	}
	return name, bounds, nil
}

// bounded gives a kind the bounds that stood in parentheses.
func bounded(k Kind, bounds []int) (Type, error) {
	t := Type{Kind: k}
	if len(bounds) == 0 {
		return t, nil
	}
	first := bounds[0]
	switch k {
	case Decimal:
		if len(bounds) > 2 || first < 1 {
			return Type{}, fmt.Errorf("%s has a precision from 1 and a scale", k)
		}
		t.Precision = first
		if len(bounds) == 2 {
			t.Scale = bounds[1]
		}
		return t, nil
	case Text, Bytes, Bit:
		if len(bounds) > 1 || first < 1 {
			return Type{}, fmt.Errorf("%s has one length, from 1", k)
		}
		t.Length = first
		return t, nil
	case Time, TimeTZ, Timestamp, Instant, Interval:
		if len(bounds) > 1 || first < 0 || first > 9 {
			return Type{}, fmt.Errorf("%s has one number of digits after the second, 0 to 9", k)
		}
		t.Fraction = first + 1
		return t, nil
	default:
		return Type{}, fmt.Errorf("%s has no bounds", k)
	}
}

// kindOf finds a kind by its name or by SQL's name for it.
func kindOf(name string) (Kind, bool) {
	for i, n := range kindNames {
		if n == name && Kind(i) != Named {
			return Kind(i), true
		}
	}
	switch name {
	case "boolean":
		return Bool, true
	case "tinyint":
		return Int8, true
	case "smallint", "int2":
		return Int16, true
	case "int", "integer", "int4":
		return Int32, true
	case "bigint":
		return Int64, true
	case "real", "float4":
		return Float32, true
	case "float", "double", "double precision", "float8":
		return Float64, true
	case "numeric":
		return Decimal, true
	case "string", "varchar", "character varying":
		return Text, true
	case "binary", "varbinary", "blob", "bytea":
		return Bytes, true
	case "datetime":
		return Timestamp, true
	case "timestamptz":
		return Instant, true
	case "jsonb":
		return JSON, true
	default:
		return Untyped, false
	}
}

// writable returns the names of the kinds that ParseType reads.
func writable() []string {
	names := make([]string, 0, len(kindNames))
	for i, n := range kindNames {
		if k := Kind(i); k != Named && k != Array {
			names = append(names, n)
		}
	}
	return append(names, "array of …")
}
