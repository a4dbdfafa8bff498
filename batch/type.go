package batch

import (
	"fmt"
	"strings"
)

// Type is a kind with its bounds. The zero bounds mean "unbounded" or "the
// system's default"; they are not conversions, only what is known.
type Type struct {
	Kind Kind `json:"kind"`
	// Precision is the number of digits of a Decimal, 0 when unbounded.
	Precision int `json:"precision,omitempty"`
	// Scale is the number of digits after the point of a Decimal with a
	// precision. It may be negative (PostgreSQL) and larger than Precision.
	Scale int `json:"scale,omitempty"`
	// Fraction is the number of digits of the seconds' fraction of a time
	// kind plus one, 0 when unknown (so the zero Type is "unknown").
	Fraction int `json:"fraction,omitempty"`
	// Length bounds Text (in characters), Bytes (in bytes), Bit (in bits).
	Length int `json:"length,omitempty"`
	// Fixed marks a Text, Bytes or Bit type whose values all have Length.
	Fixed bool `json:"fixed,omitempty"`
	// Elem is the type of an Array's elements.
	Elem *Type `json:"elem,omitempty"`
	// Name is the system's own name of a Named type (an enum, a range), and
	// of others where it says more than the kind does.
	Name string `json:"name,omitempty"`
}

// Of returns the unbounded type of a kind.
func Of(k Kind) Type { return Type{Kind: k} }

// Equal reports whether two types are the same in all bounds.
func (t Type) Equal(u Type) bool {
	if (t.Elem == nil) != (u.Elem == nil) {
		return false
	}
	if t.Elem != nil && !t.Elem.Equal(*u.Elem) {
		return false
	}
	t.Elem, u.Elem = nil, nil
	return t == u
}

// String returns the type as people write it: decimal(15,2), text(40), array of int32.
func (t Type) String() string {
	var b strings.Builder
	if t.Kind == Array && t.Elem != nil {
		return "array of " + t.Elem.String()
	}
	if t.Kind == Named {
		return t.Name
	}
	b.WriteString(t.Kind.String())
	switch {
	case t.Kind == Decimal && t.Precision > 0:
		fmt.Fprintf(&b, "(%d,%d)", t.Precision, t.Scale)
	case t.Length > 0:
		fmt.Fprintf(&b, "(%d)", t.Length)
	case t.Fraction > 0:
		fmt.Fprintf(&b, "(%d)", t.Fraction-1)
	}
	return b.String()
}
