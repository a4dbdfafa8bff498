package value_test

import (
	"fmt"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

func TestCanonicalChecksTheBoundsOfTheType(t *testing.T) {
	text := func(n int) batch.Type { return batch.Type{Kind: batch.Text, Length: n} }
	char := func(n int) batch.Type { return batch.Type{Kind: batch.Text, Length: n, Fixed: true} }
	dec := func(p, s int) batch.Type { return batch.Type{Kind: batch.Decimal, Precision: p, Scale: s} }
	fraction := func(k batch.Kind, n int) batch.Type { return batch.Type{Kind: k, Fraction: n + 1} }
	array := func(elem batch.Type) batch.Type { return batch.Type{Kind: batch.Array, Elem: &elem} }
	for _, c := range []struct {
		to    batch.Type
		in    string
		want  string
		class error
	}{
		{batch.Of(batch.Untyped), " x\xff", " x\xff", nil},
		{batch.Of(batch.Named), "[1,2)", "[1,2)", nil},
		{batch.Of(batch.Bool), "T", "true", nil},
		{batch.Of(batch.Bool), "", "", value.ErrSyntax},
		{batch.Of(batch.Int16), "+007", "7", nil},
		{batch.Of(batch.Int16), "32768", "", value.ErrRange},
		{batch.Of(batch.Int64), "", "", value.ErrSyntax},
		{batch.Of(batch.Uint64), "18446744073709551615", "18446744073709551615", nil},
		{batch.Of(batch.Float64), "1.50", "1.5", nil},
		{batch.Of(batch.Float32), "1e39", "", value.ErrRange},
		{batch.Of(batch.Decimal), "7.10", "7.10", nil},
		{batch.Of(batch.Decimal), "1e2", "100", nil},
		{dec(17, 2), "99999999999999.99", "99999999999999.99", nil},
		{dec(30, 0), "123456789012345678901234567890", "123456789012345678901234567890", nil},
		{dec(38, 10), "1", "1.0000000000", nil},
		{dec(4, 2), "7.1", "7.10", nil},
		{dec(4, 2), "7.100", "7.10", nil},
		{dec(4, 2), "7.105", "", value.ErrPrecision},
		{dec(4, 2), "100", "", value.ErrRange},
		{dec(4, 2), "NaN", "NaN", nil},
		{dec(3, -2), "1.23e4", "12300", nil},
		{text(3), "中文字", "中文字", nil},
		{text(3), "中文字x", "", value.ErrLength},
		{text(3), "abc ", "", value.ErrLength},
		{text(0), "\xff", "", value.ErrSyntax},
		{text(3), "", "", nil},
		{char(3), "é", "é  ", nil},
		{char(3), "abc   ", "abc", nil},
		{char(3), "中 x", "中 x", nil},
		{char(3), "中x     ", "中x ", nil},
		{char(3), "abcd", "", value.ErrLength},
		{batch.Type{Kind: batch.Bytes, Length: 2}, `\x`, `\x`, nil},
		{batch.Type{Kind: batch.Bytes, Length: 2}, "abc", "", value.ErrLength},
		{batch.Type{Kind: batch.Bytes, Length: 2, Fixed: true}, "a", "", value.ErrLength},
		{batch.Of(batch.Date), "2024/1/5", "2024-01-05", nil},
		{fraction(batch.Time, 3), "1:02:03.1230", "01:02:03.123", nil},
		{fraction(batch.Time, 3), "01:02:03.1234", "", value.ErrPrecision},
		{batch.Of(batch.Time), "01:02:03.123456789", "01:02:03.123456789", nil},
		{fraction(batch.TimeTZ, 0), "01:02:03.5Z", "", value.ErrPrecision},
		{fraction(batch.Timestamp, 6), "2024-01-01T00:00:00.123456789", "", value.ErrPrecision},
		{fraction(batch.Timestamp, 9), "2024-01-01T00:00:00.123456789", "2024-01-01 00:00:00.123456789", nil},
		{batch.Of(batch.Timestamp), "2024-01-01T00:00:00.1234567891", "", value.ErrPrecision},
		{batch.Of(batch.Timestamp), "300000-01-01", "300000-01-01 00:00:00", nil},
		{batch.Of(batch.Instant), "2024-01-01 00:00:00 +05:30", "2023-12-31 18:30:00+00", nil},
		{batch.Of(batch.Interval), "1 day", "P1D", nil},
		{fraction(batch.Interval, 3), "PT1.5S", "PT1.5S", nil},
		{fraction(batch.Interval, 3), "PT-0.0005S", "", value.ErrPrecision},
		{fraction(batch.Interval, 0), "infinity", "infinity", nil},
		{batch.Of(batch.UUID), "F47AC10B58CC4372A5670E02B2C3D479", "f47ac10b-58cc-4372-a567-0e02b2c3d479", nil},
		{batch.Of(batch.JSON), ` {"a" : 1}`, ` {"a" : 1}`, nil},
		{batch.Of(batch.JSON), "", "", value.ErrSyntax},
		{batch.Type{Kind: batch.Bit, Length: 3, Fixed: true}, "101", "101", nil},
		{batch.Type{Kind: batch.Bit, Length: 3, Fixed: true}, "10", "", value.ErrLength},
		{batch.Type{Kind: batch.Bit, Length: 3}, "10", "10", nil},
		{batch.Type{Kind: batch.Bit, Length: 3}, "1010", "", value.ErrLength},
		{array(batch.Of(batch.Int32)), "{ 1, 02 ,null}", "{1,2,NULL}", nil},
		{array(batch.Of(batch.Int32)), "[1:2]={1,2}", "{1,2}", nil},
		{array(batch.Of(batch.Int32)), "[2:3]={1,2}", "[2:3]={1,2}", nil},
		{array(batch.Of(batch.Int32)), "{1,x}", "", value.ErrSyntax},
		{array(batch.Of(batch.Int32)), "{{1},{2,3}}", "", value.ErrSyntax},
		{array(dec(4, 2)), "{7.1}", "{7.10}", nil},
		{array(batch.Of(batch.Bytes)), `{"\\xFF",a}`, `{"\\xff","\\x61"}`, nil},
		{batch.Of(batch.Array), `{"a",b c,""}`, `{a,"b c",""}`, nil},
	} {
		name := fmt.Sprintf("canonical %s of %q", c.to, c.in)
		f, err := value.Canonical(c.to)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := f([]byte("~"), []byte(c.in))
		same(t, name, string(got), err, "~"+c.want, c.class)
		if err != nil && string(got) != "~" {
			t.Errorf("%s: after an error dst is %q", name, got)
		}
	}
	if _, err := value.Canonical(batch.Of(batch.Kind(200))); err == nil {
		t.Error("there is a canonical text of no kind")
	}
}

func TestFitsFraction(t *testing.T) {
	for _, c := range []struct {
		micros   int64
		fraction int
		fits     bool
	}{
		{123456, 0, true},
		{123456, 7, true},
		{123456, 10, true},
		{123456, 6, false},
		{123450, 6, true},
		{-500000, 2, true},
		{-500000, 1, false},
		{7000000, 1, true},
	} {
		if err := value.FitsFraction(c.micros, c.fraction); (err == nil) != c.fits {
			t.Errorf("FitsFraction(%d, %d) = %v", c.micros, c.fraction, err)
		}
	}
}
