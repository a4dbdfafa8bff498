package filter

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawDecimal(t *rapid.T, label string) string {
	edge := rapid.SampledFrom([]string{
		"0", "-0", "1", "-1", "0.5", "9223372036854775807", "-9223372036854775808", "-9223372036854775807", "9223372036854775808",
		"18446744073709551615", "0.000000000000000001", "0.0000000000000000001", "922337203685477580.7", "1000000000000000000",
		"-9.223372036854775808", "99999999999999999999999999.99",
	})
	digits := rapid.StringMatching(`-?[0-9]{1,25}(\.[0-9]{1,25})?`)
	short := rapid.StringMatching(`-?[0-9]{1,3}(\.[0-9]{1,2})?`)
	return rapid.OneOf(edge, digits, short).Draw(t, label)
}

func parsedNumber(t *rapid.T, text string) (number, *big.Rat) {
	n, err := numberOfDecimal([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is not a number", text)
	}
	return n, r
}

// Numbers agree with fractions of unbounded integers, whatever form they have.
func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ta, tb := drawDecimal(t, "a"), drawDecimal(t, "b")
		a, ra := parsedNumber(t, ta)
		b, rb := parsedNumber(t, tb)
		if got, want := a.compare(b), ra.Cmp(rb); got != want {
			t.Fatalf("compare %s with %s: %d, want %d", ta, tb, got, want)
		}
		check := func(name string, got number, err error, want *big.Rat) {
			if err != nil || got.class != finite || got.rat().Cmp(want) != 0 {
				t.Fatalf("%s %s %s: got %+v, %v; want %s", ta, name, tb, got, err, want)
			}
		}
		n, err := a.add(b)
		check("+", n, err, new(big.Rat).Add(ra, rb))
		n, err = a.subtract(b)
		check("-", n, err, new(big.Rat).Sub(ra, rb))
		n, err = a.multiply(b)
		check("*", n, err, new(big.Rat).Mul(ra, rb))
		n, err = a.negate()
		check("negated", n, err, new(big.Rat).Neg(ra))
		n, err = a.floor()
		check("floor", n, err, floorOf(ra))
		n, err = a.ceil()
		check("ceil", n, err, new(big.Rat).Neg(floorOf(new(big.Rat).Neg(ra))))
		if a.whole() != ra.IsInt() {
			t.Fatalf("%s is whole: %v", ta, a.whole())
		}
		if f, _ := ra.Float64(); a.float() != f {
			t.Fatalf("%s as a float: %v, want %v", ta, a.float(), f)
		}
		if rb.Sign() == 0 {
			return
		}
		n, err = a.divide(b)
		quotient := new(big.Rat).Quo(ra, rb)
		check("/", n, err, quotient)
		n, err = a.remainder(b)
		whole := new(big.Rat).SetInt(new(big.Int).Quo(quotient.Num(), quotient.Denom()))
		check("%", n, err, new(big.Rat).Sub(ra, whole.Mul(whole, rb)))
	})
}

func floorOf(r *big.Rat) *big.Rat {
	q, m := new(big.Int), new(big.Int)
	q.DivMod(r.Num(), r.Denom(), m)
	return new(big.Rat).SetInt(q)
}

func TestRoundingIsHalfAwayFromZero(t *testing.T) {
	for text, want := range map[string]string{
		"0.5": "1", "-0.5": "-1", "1.4999": "1", "-1.5": "-2", "2": "2", "99999999999999999999.5": "100000000000000000000",
	} {
		a, _ := numberOfDecimal([]byte(text))
		w, _ := numberOfDecimal([]byte(want))
		if got, err := a.round(); err != nil || got.compare(w) != 0 {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
}

func TestWholeNumbersAndFloatsCompareExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.Int64().Draw(t, "i")
		f := rapid.OneOf(rapid.Float64(), rapid.Just(float64(i)), rapid.Just(float64(i)+0.5), rapid.Just(math.Nextafter(float64(i), 0))).Draw(t, "f")
		want := new(big.Float).SetInt64(i).Cmp(new(big.Float).SetFloat64(f))
		if got := numberOfInt(i).compareFloat(f); got != want {
			t.Fatalf("%d and %v: %d, want %d", i, f, got, want)
		}
	})
}

// Infinities and NaN are ordered and computed with as PostgreSQL does.
func TestSpecialNumbers(t *testing.T) {
	cells := []cell{
		{"inf", "decimal", "Infinity"},
		{"ninf", "decimal", "-Infinity"},
		{"nan", "decimal", "NaN"},
		{"one", "decimal", "1"},
		{"finf", "float64", "Infinity"},
		{"fnan", "float64", "NaN"},
		{"fone", "float64", "1"},
		{"i", "int64", "9223372036854775807"},
	}
	for expression, want := range map[string]string{
		"inf > one and ninf < one and inf == inf and inf > ninf and inf > 1e300": "true",
		"nan == nan and nan > inf and nan > one and not (nan < one)":             "true",
		"(inf + one) == inf and (ninf - one) == ninf and -inf == ninf":           "true",
		"(inf - inf) == nan and (inf * 0) == nan and (inf * -1) == ninf":         "true",
		"one / inf == 0 and inf / -one == ninf and inf / inf == nan":             "true",
		"inf % one == nan and one % inf == 1":                                    "true",
		"inf / 0 == inf":                                                         "dirty: division by zero",
		"nan / 0 == nan":                                                         "true",
		"abs(ninf) == inf and floor(inf) == inf and round(nan) == nan":           "true",
		"fnan == fnan and fnan > finf and finf > fone and fone < fnan":           "true",
		"finf > i and fnan > i and -finf < i and i < finf":                       "true",
		"finf + fone == finf and finf / 2 == finf":                               "true",
		"int(inf) == 1": "dirty: has a fraction: say floor, ceil or round",
	} {
		if got := outcome(t, expression, cells); got != want {
			t.Errorf("%s\n got %s\nwant %s", expression, got, want)
		}
	}
}

func TestComputationIsBounded(t *testing.T) {
	long := strings.Repeat("9", 100000)
	cells := []cell{{"x", "decimal", long}, {"y", "decimal", long + ".0"}}
	if got := outcome(t, "x * x * x * x > 0", cells); got != "dirty: "+errTooLarge.Error() {
		t.Error(got)
	}
	if got := outcome(t, "x * x > x and x == y", cells); got != "true" {
		t.Error(got)
	}
}
