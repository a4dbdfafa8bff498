package value_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// drawDecimal draws a text that SplitDecimal accepts.
func drawDecimal(t *rapid.T) string {
	return rapid.StringMatching(`[-+]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][-+]?[0-9]{1,2})?`).Draw(t, "decimal")
}

func rational(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

func TestFormattedValuesParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		if got, err := value.ParseInt(value.AppendInt(nil, n), 64); err != nil || got != n {
			t.Fatalf("int %d reads back as %d, %v", n, got, err)
		}
		u := rapid.Uint64().Draw(t, "u")
		if got, err := value.ParseUint(value.AppendUint(nil, u), 64); err != nil || got != u {
			t.Fatalf("uint %d reads back as %d, %v", u, got, err)
		}
		f := math.Float64frombits(u)
		if got, err := value.ParseFloat(value.AppendFloat(nil, f, 64), 64); err != nil || got != f && !math.IsNaN(f) {
			t.Fatalf("float64 %g reads back as %g, %v", f, got, err)
		}
		g := math.Float32frombits(uint32(u))
		if got, err := value.ParseFloat(value.AppendFloat(nil, float64(g), 32), 32); err != nil || float32(got) != g && g == g {
			t.Fatalf("float32 %g reads back as %g, %v", g, got, err)
		}
		d := value.Date(rapid.Int32().Draw(t, "date"))
		if got, err := value.ParseDate(value.AppendDate(nil, d)); err != nil || got != d {
			t.Fatalf("date %d reads back as %d, %v", d, got, err)
		}
		tm := value.Time(rapid.Int64Range(-3600e12+1, 3600e12-1).Draw(t, "time"))
		if got, err := value.ParseTime(value.AppendTime(nil, tm)); err != nil || got != tm {
			t.Fatalf("time %d reads back as %d, %v", tm, got, err)
		}
		tz := value.TimeTZ{
			Time:   value.Time(rapid.Int64Range(0, value.Day).Draw(t, "time of day")),
			Offset: rapid.Int32Range(-57599, 57599).Draw(t, "offset"),
		}
		if got, err := value.ParseTimeTZ(value.AppendTimeTZ(nil, tz)); err != nil || got != tz {
			t.Fatalf("%v reads back as %v, %v", tz, got, err)
		}
	})
}

// All days of one turn of the calendar, one by one: each follows the last.
func TestEveryDayOfFourCenturies(t *testing.T) {
	year, month, day := 1999, 12, 31
	for d := value.Date(-1); d < 400*366; d++ {
		y, m, n := d.Civil()
		text := value.AppendDate(nil, d)
		if got, err := value.ParseDate(text); err != nil || got != d {
			t.Fatalf("day %d is %s, which reads back as %d, %v", d, text, got, err)
		}
		if want := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC); string(text) != want.Format(time.DateOnly) {
			t.Fatalf("day %d is %s, want %s", d, text, want.Format(time.DateOnly))
		}
		next := time.Date(y, time.Month(m), n+1, 0, 0, 0, 0, time.UTC)
		year, month, day = next.Year(), int(next.Month()), next.Day()
	}
}

func TestFormattedTimestampsParseBack(t *testing.T) {
	// Whole days only, below and above the years that fill all but a part of one.
	const lowest, highest = -106751991 * value.Day, 106751991*value.Day - 1
	rapid.Check(t, func(t *rapid.T) {
		ts := value.Timestamp(rapid.Int64Range(lowest, highest).Draw(t, "timestamp"))
		if got, err := value.ParseTimestamp(value.AppendTimestamp(nil, ts)); err != nil || got != ts {
			t.Fatalf("timestamp %d reads back as %d, %v", ts, got, err)
		}
		if got, err := value.ParseInstant(value.AppendInstant(nil, ts)); err != nil || got != ts {
			t.Fatalf("instant %d reads back as %d, %v", ts, got, err)
		}
	})
	for _, ts := range []value.Timestamp{value.TimestampInfinity, value.TimestampNegInfinity, value.TimestampZero} {
		if got, err := value.ParseInstant(value.AppendInstant(nil, ts)); err != nil || got != ts {
			t.Errorf("special %d reads back as %d, %v", ts, got, err)
		}
	}
}

func TestFormattedCompositesParseBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := value.Interval{
			Months: rapid.Int32().Draw(t, "months"), Days: rapid.Int32().Draw(t, "days"),
			Micros: rapid.Int64().Draw(t, "micros"),
		}
		if got, err := value.ParseInterval(value.AppendInterval(nil, v)); err != nil || got != v {
			t.Fatalf("%v reads back from %s as %v, %v", v, value.AppendInterval(nil, v), got, err)
		}
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		if got, err := value.ParseHex(nil, value.AppendHex(nil, b)); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("bytes %x read back as %x, %v", b, got, err)
		}
		var id [16]byte
		copy(id[:], b)
		if got, err := value.ParseUUID(value.AppendUUID(nil, id)); err != nil || got != id {
			t.Fatalf("uuid %x reads back as %x, %v", id, got, err)
		}
		s := rapid.String().Draw(t, "text")
		quoted, err := value.AppendJSONString(nil, []byte(s))
		var back string
		if err != nil || json.Unmarshal(quoted, &back) != nil || back != s {
			t.Fatalf("%q as JSON is %s, read back %q, %v", s, quoted, back, err)
		}
	})
}

func TestArrayElementsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elems := rapid.SliceOf(rapid.Ptr(rapid.StringOf(rapid.RuneFrom([]rune("aN \\\"{},ul\té"))), true)).Draw(t, "elements")
		text := []byte("{")
		for i, e := range elems {
			if i > 0 {
				text = append(text, ',')
			}
			if e == nil {
				text = value.AppendArrayElement(text, nil)
			} else {
				text = value.AppendArrayElement(text, []byte(*e))
			}
		}
		text = append(text, '}')
		want := []byte("<")
		for _, e := range elems {
			if e == nil {
				want = append(want, "∅;"...)
			} else {
				want = append(append(want, *e...), ';')
			}
		}
		want = append(want, '>')
		if got, err := walk(string(text)); err != nil || got != string(want) {
			t.Fatalf("%s reads back as %s, %v, want %s", text, got, err, want)
		}
	})
}

// The decimal functions agree with exact rational arithmetic.
func TestDecimalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawDecimal(t)
		d, err := value.SplitDecimal([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want := rational(t, text)
		plain := string(value.AppendDecimal(nil, &d))
		if rational(t, plain).Cmp(want) != 0 {
			t.Fatalf("%q is written as %s", text, plain)
		}
		if again, err := value.SplitDecimal([]byte(plain)); err != nil || again.Scale() != d.Scale() {
			t.Fatalf("%q of scale %d is written as %s", text, d.Scale(), plain)
		}
		if d.Zero() != (want.Sign() == 0) || d.Whole() != want.IsInt() {
			t.Fatalf("%q: zero %t, whole %t", text, d.Zero(), d.Whole())
		}

		precision, scale := rapid.IntRange(1, 40).Draw(t, "precision"), rapid.IntRange(-30, 40).Draw(t, "scale")
		power := func(n int) *big.Rat {
			p := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil))
			if n < 0 {
				p.Inv(p)
			}
			return p
		}
		scaled := new(big.Rat).Mul(want, power(scale))
		small := new(big.Rat).Abs(want).Cmp(power(precision-scale)) < 0
		if got := value.FitsDecimal(&d, precision, scale) == nil; got != (small && scaled.IsInt()) {
			t.Fatalf("%q fits decimal(%d,%d): %t", text, precision, scale, got)
		}

		to := batch.Type{Kind: batch.Decimal, Precision: precision, Scale: scale}
		cast, err := value.ConvertCast(batch.Of(batch.Decimal), to)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cast(nil, []byte(text))
		// Half away from zero: the floor of the absolute value plus a half.
		half := new(big.Rat).Add(new(big.Rat).Abs(scaled), big.NewRat(1, 2))
		floor := new(big.Rat).SetInt(new(big.Int).Quo(half.Num(), half.Denom()))
		rounded := floor.Mul(floor, power(-scale))
		if rounded.Cmp(power(precision-scale)) >= 0 {
			if err == nil {
				t.Fatalf("%q is cast to %s of decimal(%d,%d)", text, got, precision, scale)
			}
			return
		}
		if want.Sign() < 0 {
			rounded.Neg(rounded)
		}
		if err != nil || string(got) != rounded.FloatString(max(0, scale)) {
			t.Fatalf("%q is cast to decimal(%d,%d) as %s, %v, want %s", text, precision, scale, got, err, rounded.FloatString(max(0, scale)))
		}
	})
}

func TestParseFloatAgreesWithStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,10}[0-9]\.[0-9]{0,10}([eE]-?[0-9]{1,2})?`).Draw(t, "number")
		for _, bits := range []int{32, 64} {
			want, wantErr := strconv.ParseFloat(text, bits)
			got, err := value.ParseFloat([]byte(text), bits)
			underflow := want == 0 && rational(t, text).Sign() != 0
			if (err != nil) != (wantErr != nil || underflow) || err == nil && math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%q as float%d is %g, %v, want %g, %v", text, bits, got, err, want, wantErr)
			}
		}
	})
}

// A decimal becomes a float without a cast exactly when it is one.
func TestDecimalToFloatIsExact(t *testing.T) {
	for _, bits := range []int{32, 64} {
		to := batch.Of(batch.Float64)
		if bits == 32 {
			to = batch.Of(batch.Float32)
		}
		convert, err := value.Convert(batch.Of(batch.Decimal), to)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			text := drawDecimal(t)
			if rapid.Bool().Draw(t, "dyadic") {
				f := math.Ldexp(float64(rapid.Int64Range(-1<<54, 1<<54).Draw(t, "mantissa")), rapid.IntRange(-60, 40).Draw(t, "exponent"))
				text = strconv.FormatFloat(f, 'f', 60, 64)
			}
			want := rational(t, text)
			got, err := convert(nil, []byte(text))
			f, _ := strconv.ParseFloat(text, bits)
			exact := new(big.Rat).SetFloat64(f)
			if (err == nil) != (exact != nil && exact.Cmp(want) == 0) {
				t.Fatalf("%s as float%d is %s, %v", text, bits, got, err)
			}
		})
	}
}

// What a Converter between numbers lets through has the same value.
func TestNumbersKeepTheirValue(t *testing.T) {
	kinds := []batch.Kind{
		batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Uint8, batch.Uint16, batch.Uint32, batch.Uint64,
		batch.Float32, batch.Float64, batch.Decimal,
	}
	rapid.Check(t, func(t *rapid.T) {
		from, to := rapid.SampledFrom(kinds).Draw(t, "from"), rapid.SampledFrom(kinds).Draw(t, "to")
		source, err := value.Canonical(batch.Of(from))
		if err != nil {
			t.Fatal(err)
		}
		cell, err := source(nil, []byte(drawDecimal(t)))
		if err != nil {
			cell, _ = source(nil, fmt.Append(nil, rapid.IntRange(0, 127).Draw(t, "small")))
		}
		convert, err := value.Convert(batch.Of(from), batch.Of(to))
		if err != nil {
			t.Fatal(err)
		}
		if convert == nil {
			return
		}
		got, err := convert(nil, cell)
		if err != nil {
			return
		}
		if before, after := exactly(t, from, cell), exactly(t, to, got); before.Cmp(after) != 0 {
			t.Fatalf("%s of %s became %s of %s", cell, from, got, to)
		}
		judge, err := value.Canonical(batch.Of(to))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := judge(nil, got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s became %s of %s, which is canonically %s, %v", cell, got, to, again, err)
		}
	})
}

// exactly returns the value that a text has as a kind: of a float's, that of the float.
func exactly(t *rapid.T, k batch.Kind, text []byte) *big.Rat {
	bits := 64
	switch k {
	case batch.Float32:
		bits = 32
	case batch.Float64:
	default:
		return rational(t, string(text))
	}
	f, err := strconv.ParseFloat(string(text), bits)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return new(big.Rat).SetFloat64(f)
}

// A column of an inferred type prints every value as it was.
func TestInferredTypesPrintBackUnchanged(t *testing.T) {
	texts := []*rapid.Generator[string]{
		rapid.StringMatching(`-?[0-9]{1,3}`),
		rapid.StringMatching(`-?[0-9]{1,3}\.[0-9]{2}`),
		rapid.StringMatching(`-?[0-9]{0,18}\.?[0-9]{0,18}([eE][-+]?[0-9]{1,2})?`),
		rapid.StringMatching(`(true|false|t|0|1)`),
		rapid.StringMatching(`20[0-9]{2}-0[1-9]-[0-3][0-9]`),
		rapid.StringMatching(`20[0-9]{2}-0[1-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,7})?(\+0[01])?`),
		rapid.StringMatching(`[0-9a-fA-F]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	}
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.OneOf(texts[rapid.IntRange(0, len(texts)-1).Draw(t, "sort")], texts[0]), 1, 5).Draw(t, "cells")
		var n value.Inference
		for _, c := range cells {
			n.Add([]byte(c))
		}
		canonical, err := value.Canonical(n.Type())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			if got, err := canonical(nil, []byte(c)); err != nil || string(got) != c {
				t.Fatalf("%q of %q prints back from %s as %q, %v", c, cells, n.Type(), got, err)
			}
		}
	})
}
