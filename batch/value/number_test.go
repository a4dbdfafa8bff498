package value_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch/value"
)

// same fails the test when a call did not give a text, or an error of a class.
func same(t *testing.T, call, got string, err error, want string, class error) {
	t.Helper()
	switch {
	case class != nil && !errors.Is(err, class):
		t.Errorf("%s: error %v, want one of class %q", call, err, class)
	case class == nil && err != nil:
		t.Errorf("%s: error %v, want %s", call, err, want)
	case class == nil && got != want:
		t.Errorf("%s = %s, want %s", call, got, want)
	}
}

func TestParseBool(t *testing.T) {
	for in, want := range map[string]string{
		"true": "true", "T": "true", "YES": "true", "y": "true", "On": "true", "1": "true", " true\n": "true",
		"false": "false", "F": "false", "no": "false", "N": "false", "OFF": "false", "0": "false",
	} {
		v, err := value.ParseBool([]byte(in))
		same(t, fmt.Sprintf("ParseBool(%q)", in), string(value.AppendBool(nil, v)), err, want, nil)
	}
	for _, in := range []string{"", " ", "2", "01", "truth", "tr", "of", "o", "-1", "1.0", "wahr"} {
		_, err := value.ParseBool([]byte(in))
		same(t, fmt.Sprintf("ParseBool(%q)", in), "", err, "", value.ErrSyntax)
	}
}

func TestParseInt(t *testing.T) {
	for _, c := range []struct {
		in    string
		bits  int
		want  string
		class error
	}{
		{"0", 64, "0", nil},
		{"-0", 64, "0", nil},
		{"+7", 32, "7", nil},
		{" 42\t", 32, "42", nil},
		{"007", 8, "7", nil},
		{"00000000000000000000000000000127", 8, "127", nil},
		{"-128", 8, "-128", nil},
		{"128", 8, "", value.ErrRange},
		{"-129", 8, "", value.ErrRange},
		{"32768", 16, "", value.ErrRange},
		{"2147483647", 32, "2147483647", nil},
		{"2147483648", 32, "", value.ErrRange},
		{"8388607", 24, "8388607", nil},
		{"8388608", 24, "", value.ErrRange},
		{"9223372036854775807", 64, "9223372036854775807", nil},
		{"-9223372036854775808", 64, "-9223372036854775808", nil},
		{"9223372036854775808", 64, "", value.ErrRange},
		// A BIGINT UNSIGNED of MySQL does not become -1.
		{"18446744073709551615", 64, "", value.ErrRange},
		{"99999999999999999999999", 64, "", value.ErrRange},
		{"", 64, "", value.ErrSyntax},
		{"-", 64, "", value.ErrSyntax},
		{"12.0", 64, "", value.ErrSyntax},
		{"1e3", 64, "", value.ErrSyntax},
		{"1 2", 64, "", value.ErrSyntax},
		{"--1", 64, "", value.ErrSyntax},
		{"0x1", 64, "", value.ErrSyntax},
		{"1_000", 64, "", value.ErrSyntax},
		{"99999999999999999999x", 64, "", value.ErrSyntax},
		{"١", 64, "", value.ErrSyntax},
	} {
		v, err := value.ParseInt([]byte(c.in), c.bits)
		same(t, fmt.Sprintf("ParseInt(%q, %d)", c.in, c.bits), string(value.AppendInt(nil, v)), err, c.want, c.class)
	}
}

func TestParseUint(t *testing.T) {
	for _, c := range []struct {
		in    string
		bits  int
		want  string
		class error
	}{
		{"18446744073709551615", 64, "18446744073709551615", nil},
		{"18446744073709551616", 64, "", value.ErrRange},
		{"18446744073709551620", 64, "", value.ErrRange},
		{"20000000000000000000", 64, "", value.ErrRange},
		{"0018446744073709551615", 64, "18446744073709551615", nil},
		{"255", 8, "255", nil},
		{"256", 8, "", value.ErrRange},
		{"65536", 16, "", value.ErrRange},
		{"4294967296", 32, "", value.ErrRange},
		{"-0", 8, "0", nil},
		{"-1", 64, "", value.ErrRange},
		{"1.0", 8, "", value.ErrSyntax},
	} {
		v, err := value.ParseUint([]byte(c.in), c.bits)
		same(t, fmt.Sprintf("ParseUint(%q, %d)", c.in, c.bits), string(value.AppendUint(nil, v)), err, c.want, c.class)
	}
}

func TestRangeErrorsNameTheType(t *testing.T) {
	_, err := value.ParseInt([]byte("3000000000"), 32)
	if want := "out of range for int32"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = value.ParseUint([]byte("-1"), 16)
	if want := "out of range for uint16"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = value.ParseInt([]byte("seven"), 32)
	if want := "not a whole number"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestParseFloat(t *testing.T) {
	for _, c := range []struct {
		in    string
		bits  int
		want  string
		class error
	}{
		{"1", 64, "1", nil},
		{"-0", 64, "-0", nil},
		{"+1.50", 64, "1.5", nil},
		{".5", 64, "0.5", nil},
		{"5.", 64, "5", nil},
		{"0.1", 64, "0.1", nil},
		{"31.95376472", 64, "31.95376472", nil},
		{"0.0001", 64, "0.0001", nil},
		{"0.00001", 64, "1e-05", nil},
		{"999999999999999", 64, "999999999999999", nil},
		{"1000000000000000", 64, "1e+15", nil},
		{"1e20", 64, "1e+20", nil},
		{"123456789012345678", 64, "1.2345678901234568e+17", nil},
		{"1.7976931348623157e308", 64, "1.7976931348623157e+308", nil},
		{"5e-324", 64, "5e-324", nil},
		{"999999", 32, "999999", nil},
		{"1000000", 32, "1e+06", nil},
		{"16777217", 32, "1.6777216e+07", nil},
		{"nan", 64, "NaN", nil},
		{"Infinity", 64, "Infinity", nil},
		{"+inf", 64, "Infinity", nil},
		{"-INF", 32, "-Infinity", nil},
		{"1e309", 64, "", value.ErrRange},
		{"-1e309", 64, "", value.ErrRange},
		{"3.5e38", 32, "", value.ErrRange},
		{"1e-400", 64, "", value.ErrRange},
		{"1e-60", 32, "", value.ErrRange},
		{"0e-400", 64, "0", nil},
		{"", 64, "", value.ErrSyntax},
		{".", 64, "", value.ErrSyntax},
		{"1e", 64, "", value.ErrSyntax},
		{"0x1p-2", 64, "", value.ErrSyntax},
		{"1_0", 64, "", value.ErrSyntax},
		{"infinit", 64, "", value.ErrSyntax},
		{"1,5", 64, "", value.ErrSyntax},
	} {
		v, err := value.ParseFloat([]byte(c.in), c.bits)
		same(t, fmt.Sprintf("ParseFloat(%q, %d)", c.in, c.bits), string(value.AppendFloat(nil, v, c.bits)), err, c.want, c.class)
	}
}

func TestSplitDecimal(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  string
		class error
	}{
		{"7.10", "7.10", nil},
		{"99999999999999.99", "99999999999999.99", nil},
		{"123456789012345678901234567890", "123456789012345678901234567890", nil},
		{"12345678901234567890.5", "12345678901234567890.5", nil},
		{"3.14159265358979", "3.14159265358979", nil},
		{"0.00", "0.00", nil},
		{"-0.00", "0.00", nil},
		{"007.10", "7.10", nil},
		{"+.5", "0.5", nil},
		{"5.", "5", nil},
		{" -1.5 ", "-1.5", nil},
		{"1e3", "1000", nil},
		{"1.25E+1", "12.5", nil},
		{"1.50e1", "15.0", nil},
		{"1.50e2", "150", nil},
		{"1.5e-3", "0.0015", nil},
		{"12e-1", "1.2", nil},
		{"120e-4", "0.0120", nil},
		{"0e5", "0", nil},
		{"00.00e1", "0.0", nil},
		{"000123e-5", "0.00123", nil},
		{"0.001e1", "0.01", nil},
		{"NaN", "NaN", nil},
		{"-nan", "NaN", nil},
		{"-Infinity", "-Infinity", nil},
		{"inf", "Infinity", nil},
		{"1e-000000000000001", "0.1", nil},
		{"1e200000", "", value.ErrRange},
		{"1e-200000", "", value.ErrRange},
		{"1e9999999999999999999", "", value.ErrRange},
		{"", "", value.ErrSyntax},
		{".", "", value.ErrSyntax},
		{"-", "", value.ErrSyntax},
		{"1.2.3", "", value.ErrSyntax},
		{"1e+", "", value.ErrSyntax},
		{"1e1.5", "", value.ErrSyntax},
		{"1 000", "", value.ErrSyntax},
		{"e5", "", value.ErrSyntax},
	} {
		d, err := value.SplitDecimal([]byte(c.in))
		same(t, fmt.Sprintf("SplitDecimal(%q)", c.in), string(value.AppendDecimal(nil, &d)), err, c.want, c.class)
	}
}

func TestFitsDecimal(t *testing.T) {
	for _, c := range []struct {
		in               string
		precision, scale int
		class            error
	}{
		{"99999999999999.99", 17, 2, nil},
		{"999999999999999.99", 17, 2, nil},
		{"9999999999999999.99", 17, 2, value.ErrRange},
		{"7.1", 3, 2, nil},
		{"7.100000", 3, 2, nil},
		{"7.105", 3, 2, value.ErrPrecision},
		{"10", 3, 2, value.ErrRange},
		{"0010", 4, 2, nil},
		{"0.000", 1, 0, nil},
		{"1e5", 6, 0, nil},
		{"1e6", 6, 0, value.ErrRange},
		{"1e-3", 6, 3, nil},
		{"1e-4", 6, 3, value.ErrPrecision},
		{"12300", 3, -2, nil},
		{"12340", 3, -2, value.ErrPrecision},
		{"123400", 3, -2, value.ErrRange},
		{"0.00999", 3, 5, nil},
		{"0.01", 3, 5, value.ErrRange},
		{"NaN", 3, 2, nil},
		{"Infinity", 3, 2, value.ErrRange},
		{"-Infinity", 0, 0, nil},
		{strings.Repeat("9", 500), 0, 0, nil},
	} {
		d, err := value.SplitDecimal([]byte(c.in))
		if err != nil {
			t.Errorf("SplitDecimal(%q): %v", c.in, err)
			continue
		}
		if err := value.FitsDecimal(&d, c.precision, c.scale); !errors.Is(err, c.class) {
			t.Errorf("FitsDecimal(%q, %d, %d) = %v, want class %v", c.in, c.precision, c.scale, err, c.class)
		}
	}
}

func TestAppendFloatKeepsTheSignOfZero(t *testing.T) {
	if got := string(value.AppendFloat(nil, math.Copysign(0, -1), 64)); got != "-0" {
		t.Errorf("-0 is written as %s", got)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"":                       `""`,
		"12,5":                   `"12,5"`,
		"Žluť 中":                 `"Žluť 中"`,
		"a\"b\\c\n\x00":          `"a\"b\\c\x0a\x00"`,
		"\xff\xc3":               `"\xff\xc3"`,
		strings.Repeat("x", 40):  `"` + strings.Repeat("x", 40) + `"`,
		strings.Repeat("x", 41):  `"` + strings.Repeat("x", 40) + `…"`,
		strings.Repeat("中", 1e6): `"` + strings.Repeat("中", 14) + `…"`,
	} {
		if got := value.Quote([]byte(in)); got != want {
			t.Errorf("Quote(%.50q) = %s, want %s", in, got, want)
		}
	}
}
