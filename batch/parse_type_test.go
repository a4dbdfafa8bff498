package batch

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseTypeReadsWhatPeopleWrite(t *testing.T) {
	int32s := Of(Int32)
	nested := Type{Kind: Array, Elem: &int32s}
	for text, want := range map[string]Type{
		"int32":              Of(Int32),
		" BigInt ":           Of(Int64),
		"decimal(15,2)":      {Kind: Decimal, Precision: 15, Scale: 2},
		"NUMERIC( 15 , 2 )":  {Kind: Decimal, Precision: 15, Scale: 2},
		"decimal(5,-3)":      {Kind: Decimal, Precision: 5, Scale: -3},
		"decimal(38)":        {Kind: Decimal, Precision: 38},
		"decimal":            Of(Decimal),
		"text(40)":           {Kind: Text, Length: 40},
		"varchar(40)":        {Kind: Text, Length: 40},
		"bytes(16)":          {Kind: Bytes, Length: 16},
		"bit(8)":             {Kind: Bit, Length: 8},
		"timestamp(0)":       {Kind: Timestamp, Fraction: 1},
		"instant(6)":         {Kind: Instant, Fraction: 7},
		"double  precision":  Of(Float64),
		"array of int32":     {Kind: Array, Elem: &int32s},
		"int32[]":            {Kind: Array, Elem: &int32s},
		"array of integer[]": {Kind: Array, Elem: &nested},
		"array":              Of(Array),
		"untyped":            Of(Untyped),
	} {
		got, err := ParseType(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if !got.Equal(want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

func TestParseTypeRefusesWhatItCannotMean(t *testing.T) {
	for _, text := range []string{
		"", "itn32", "int32(4)", "decimal(0,2)", "decimal(1,2,3)", "decimal(", "decimal(2)x", "decimal()",
		"text(0)", "text(-1)", "text(1,2)", "timestamp(-1)", "timestamp(10)", "date(3)", "bool(1)", "named",
		"decimal(+5)", "decimal(99999999999)", "array of", "[]", strings.Repeat("array of ", 20) + "int8",
	} {
		if got, err := ParseType(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
	_, err := ParseType("itn32")
	if err == nil || !strings.Contains(err.Error(), `"itn32"`) || !strings.Contains(err.Error(), "int32") {
		t.Errorf("the error names neither the text nor the known types: %v", err)
	}
}

func drawType(t *rapid.T, depth int) Type {
	k := rapid.SampledFrom(Kinds()).Filter(func(k Kind) bool { return k != Named }).Draw(t, "kind")
	typ := Type{Kind: k}
	switch k {
	case Decimal:
		if typ.Precision = rapid.IntRange(0, 1000).Draw(t, "precision"); typ.Precision > 0 {
			typ.Scale = rapid.IntRange(-1000, 1000).Draw(t, "scale")
		}
	case Text, Bytes, Bit:
		typ.Length = rapid.IntRange(0, 1<<24).Draw(t, "length")
	case Time, TimeTZ, Timestamp, Instant, Interval:
		typ.Fraction = rapid.IntRange(0, 10).Draw(t, "fraction")
	case Array:
		if depth < 4 && rapid.Bool().Draw(t, "has elem") {
			e := drawType(t, depth+1)
			typ.Elem = &e
		}
	}
	return typ
}

func TestParseTypeReadsWhatStringPrints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawType(t, 0)
		got, err := ParseType(want.String())
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(want) {
			t.Fatalf("%q: got %+v, want %+v", want, got, want)
		}
	})
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"int32", "decimal(15,2)", "array of text(3)", "int8[][]", "timestamp(6)", "decimal( 5 ,-3)", "a(b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := ParseType(text)
		if err != nil {
			return
		}
		again, err := ParseType(typ.String())
		if err != nil {
			t.Fatalf("%q reads as %q, which does not read: %v", text, typ, err)
		}
		if !again.Equal(typ) {
			t.Fatalf("%q reads as %+v, printed and read again %+v", text, typ, again)
		}
	})
}
