package value_test

import (
	"bytes"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// fixed fails when the canonical text of a type is not its own canonical text.
func fixed(t *testing.T, to batch.Type, in []byte) {
	t.Helper()
	f, err := value.Canonical(to)
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Clone(in)
	once, err := f(nil, in)
	if !bytes.Equal(kept, in) {
		t.Fatalf("the cell was changed from %q to %q", kept, in)
	}
	if err != nil {
		if len(once) > 0 {
			t.Fatalf("after an error dst is %q", once)
		}
		if err.Error() == "" {
			t.Fatal("an error without words")
		}
		return
	}
	twice, err := f(nil, once)
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("%s of %q is %q, and again %q, %v", to, in, once, twice, err)
	}
}

func seed(f *testing.F, texts ...string) {
	f.Helper()
	for _, s := range texts {
		f.Add([]byte(s))
	}
}

func FuzzParseDate(f *testing.F) {
	seed(f, "2024-01-31", "0044-03-15 BC", "infinity", "0000-00-00", "5874897-12-31", "2024/1/5")
	f.Fuzz(func(t *testing.T, b []byte) { fixed(t, batch.Of(batch.Date), b) })
}

func FuzzParseTimestamp(f *testing.F) {
	seed(f, "2024-01-31 13:05:00.123456", "2024-01-31T13:05:00.5+05:30", "0044-03-15 13:05:00+00 BC", "-infinity",
		"13:05:00.5", "-838:59:59", "13:05+0530", "2024-12-31 24:00:00", "0000-00-00 00:00:00")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range []batch.Kind{batch.Time, batch.TimeTZ, batch.Timestamp, batch.Instant} {
			fixed(t, batch.Of(k), b)
			fixed(t, batch.Type{Kind: k, Fraction: 4}, b)
		}
		if ts, err := value.ParseTimestamp(b); err == nil {
			if again, err := value.ParseTimestamp(value.AppendTimestamp(nil, ts)); err != nil || again != ts {
				t.Fatalf("%q is %d, and again %d, %v", b, ts, again, err)
			}
		}
	})
}

func FuzzSplitDecimal(f *testing.F) {
	seed(f, "7.10", "-1e3", "+.5e-7", "NaN", "-Infinity", "0000.000", "1e131072")
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range []batch.Kind{batch.Decimal, batch.Float32, batch.Float64, batch.Int8, batch.Int64, batch.Uint64} {
			fixed(t, batch.Of(k), b)
		}
		fixed(t, batch.Type{Kind: batch.Decimal, Precision: 10, Scale: 2}, b)
		d, err := value.SplitDecimal(b)
		if err != nil {
			return
		}
		for _, scale := range []int{-3, 0, 2} {
			to := batch.Type{Kind: batch.Decimal, Precision: 12, Scale: scale}
			cast, err := value.ConvertCast(batch.Of(batch.Decimal), to)
			if err != nil {
				t.Fatal(err)
			}
			rounded, err := cast(nil, b)
			if err != nil {
				continue
			}
			if value.FitsDecimal(&d, 12, scale) == nil && !bytes.Equal(rounded, value.AppendDecimalScale(nil, &d, scale)) {
				t.Fatalf("%q fits %s, but is rounded to %q", b, to, rounded)
			}
			fixed(t, to, rounded)
		}
	})
}

func FuzzInterval(f *testing.F) {
	seed(f, "P1Y2M3DT4H5M6.7S", "1 year 2 mons -3 days 04:05:06.7", "@ 1 hour ago", "-P1DT2H", "infinity", "P2W")
	f.Fuzz(func(t *testing.T, b []byte) { fixed(t, batch.Of(batch.Interval), b) })
}

func FuzzArray(f *testing.F) {
	seed(f, `{1,NULL,"a b"}`, `[0:1][1:1]={{1},{"\\\""}}`, `{}`, `{{{1}},{{2}}}`, `{a\,b, c }`)
	text, number, raw := batch.Of(batch.Text), batch.Of(batch.Int32), batch.Of(batch.Bytes)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, elem := range []*batch.Type{nil, &text, &number, &raw} {
			fixed(t, batch.Type{Kind: batch.Array, Elem: elem}, b)
		}
		toJSON, err := value.Convert(batch.Of(batch.Array), batch.Of(batch.JSON))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := toJSON(nil, b); err == nil && !value.ValidJSON(got) {
			t.Fatalf("%q as JSON is %q", b, got)
		}
	})
}

// FuzzCanonical runs every kind, and every conversion between kinds: the text
// that a conversion makes of a canonical cell is canonical too.
func FuzzCanonical(f *testing.F) {
	seed(f, "1", "true", "-0", "1.5e3", "2024-01-31 13:05:00+00", `\x00ff`, "f47ac10b-58cc-4372-a567-0e02b2c3d479",
		`{"a": [1]}`, "0101", "{1,2}", "PT1H", "13:05:00", "\xff")
	f.Fuzz(func(t *testing.T, b []byte) {
		var n value.Inference
		n.Add(b)
		if inferred, err := value.Canonical(n.Type()); err == nil {
			if got, err := inferred(nil, b); n.Type().Kind != batch.Text && (err != nil || !bytes.Equal(got, b)) {
				t.Fatalf("%q is inferred as %s, and prints as %q, %v", b, n.Type(), got, err)
			}
		}
		for _, from := range batch.Kinds() {
			fixed(t, batch.Of(from), b)
			source, err := value.Canonical(batch.Of(from))
			if err != nil {
				t.Fatal(err)
			}
			cell, err := source(nil, b)
			if err != nil {
				continue
			}
			for _, to := range batch.Kinds() {
				converted(t, batch.Of(from), batch.Of(to), cell)
			}
		}
	})
}

func converted(t *testing.T, from, to batch.Type, cell []byte) {
	t.Helper()
	for _, convert := range []func(from, to batch.Type) (value.Converter, error){value.Convert, value.ConvertCast} {
		c, err := convert(from, to)
		if err != nil || c == nil {
			continue
		}
		got, err := c(nil, cell)
		if err != nil {
			if len(got) > 0 {
				t.Fatalf("%s to %s of %q: after an error dst is %q", from, to, cell, got)
			}
			continue
		}
		judge, err := value.Canonical(to)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := judge(nil, got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s to %s of %q is %q, canonically %q, %v", from, to, cell, got, again, err)
		}
	}
}
