package value_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// matrix says for each pair of kinds how cells get from the row's kind to the
// column's:
//
//	=  the text passes as it is; the target's parser judges it
//	c  converted, values kept or refused one by one
//	x  by a cast only
//	.  not at all
//
// Its columns are the kinds in the order of its rows.
const matrix = `
untyped   = = = = = = = = = = = = = = c = = = = = = = = = = =
bool      = = c c c c c c c c c c c = . . . . . . . . = c . =
int8      = c = = = = = = = = c c = = . . . . . . . . = c . =
int16     = c = = = = = = = = c c = = . . . . . . . . = c . =
int32     = c = = = = = = = = c c = = . . . . . . . . = c . =
int64     = c = = = = = = = = c c = = . . . . . . . . = c . =
uint8     = c = = = = = = = = c c = = . . . . . . . . = c . =
uint16    = c = = = = = = = = c c = = . . . . . . . . = c . =
uint32    = c = = = = = = = = c c = = . . . . . . . . = c . =
uint64    = c = = = = = = = = c c = = . . . . . . . . = c . =
float32   = . c c c c c c c c = c c = . . . . . . . . c . . =
float64   = . c c c c c c c c c = c = . . . . . . . . c . . =
decimal   = c c c c c c c c c c c = = . . . . . . . . c . . =
text      = = = = = = = = = = = = = = c = = = = = = = = = = =
bytes     c . . . . . . . . . . . . c = . . . . . . x . c . c
date      = . . . . . . . . . . . . = . = . . c c . . c . . =
time      = . . . . . . . . . . . . = . . = c . . c . c . . =
timetz    = . . . . . . . . . . . . = . . c = . . . . c . . =
timestamp = . . . . . . . . . . . . = . c x . = c . . c . . =
instant   = . . . . . . . . . . . . = . c x x c = . . c . . =
interval  = . . . . . . . . . . . . = . . c . . . = . c . . =
uuid      = . . . . . . . . . . . . = x . . . . . . = c . . =
json      = . . . . . . . . . . . . = . . . . . . . . = . c =
bit       = c c c c c c c c c . . c = c . . . . . . . c = . =
array     = . . . . . . . . . . . . = . . . . . . . . c . = =
named     = = = = = = = = = = = = = = c = = = = = = = = = = =
`

func TestMatrix(t *testing.T) {
	var want []string
	var order []string
	for line := range strings.Lines(strings.TrimSpace(matrix)) {
		fields := strings.Fields(line)
		order = append(order, fields[0])
		want = append(want, strings.Join(fields[1:], ""))
	}
	kinds := map[string]batch.Kind{}
	for _, k := range batch.Kinds() {
		kinds[k.String()] = k
	}
	if len(order) != len(kinds) || len(order) != 26 {
		t.Fatalf("the matrix has %d rows for %d kinds", len(order), len(kinds))
	}
	for i, from := range order {
		for j, to := range order {
			if got := verdict(t, batch.Of(kinds[from]), batch.Of(kinds[to])); got != want[i][j:j+1] {
				t.Errorf("%s to %s is %s, want %s", from, to, got, want[i][j:j+1])
			}
		}
	}
}

func verdict(t *testing.T, from, to batch.Type) string {
	t.Helper()
	c, err := value.Convert(from, to)
	_, castErr := value.ConvertCast(from, to)
	switch {
	case err == nil && castErr != nil:
		return "converted, but not by a cast: " + castErr.Error()
	case err == nil && c == nil:
		return "="
	case err == nil:
		return "c"
	case !errors.Is(err, value.ErrNoConversion):
		return err.Error()
	case castErr == nil:
		if !strings.Contains(err.Error(), "cast") {
			return "an error that does not name the way out: " + err.Error()
		}
		return "x"
	}
	return "."
}

// TestConversions shows single values: implicit is what Convert makes of them, cast
// what ConvertCast does; "=" when the text passes, an error's class in its
// place where it is refused.
func TestConversions(t *testing.T) {
	const (
		pass      = "="
		precision = "!precision"
		rng       = "!range"
		syntax    = "!syntax"
		length    = "!length"
		none      = "!none"
	)
	dec := func(p, s int) batch.Type { return batch.Type{Kind: batch.Decimal, Precision: p, Scale: s} }
	of := batch.Of
	fraction := func(k batch.Kind, n int) batch.Type { return batch.Type{Kind: k, Fraction: n + 1} }
	bit := func(n int) batch.Type { return batch.Type{Kind: batch.Bit, Length: n, Fixed: true} }
	for _, c := range []struct {
		from, to             batch.Type
		cell, implicit, cast string
	}{
		// BIT 0 of SQL Server into a smallint.
		{of(batch.Bool), of(batch.Int16), "false", "0", "0"},
		{of(batch.Bool), dec(4, 2), "true", "1.00", "1.00"},
		{of(batch.Bool), of(batch.Float64), "true", "1", "1"},
		{of(batch.Bool), of(batch.Bit), "true", "1", "1"},
		{of(batch.Int32), of(batch.Bool), "1", "true", "true"},
		{of(batch.Int32), of(batch.Bool), "0", "false", "false"},
		{of(batch.Int32), of(batch.Bool), "2", rng, rng},
		{of(batch.Int32), of(batch.Bool), "-1", rng, rng},
		{of(batch.Int32), of(batch.Bool), "10", rng, rng},
		{of(batch.Decimal), of(batch.Bool), "1.00", "true", "true"},
		{of(batch.Decimal), of(batch.Bool), "0.1", rng, rng},
		{of(batch.Decimal), of(batch.Bool), "NaN", rng, rng},
		{of(batch.Uint64), of(batch.Int64), "18446744073709551615", pass, pass},

		{of(batch.Decimal), of(batch.Int32), "12.00", "12", "12"},
		{of(batch.Decimal), of(batch.Int32), "12.50", precision, "13"},
		{of(batch.Decimal), of(batch.Int32), "-12.50", precision, "-13"},
		{of(batch.Decimal), of(batch.Int32), "12.49", precision, "12"},
		{of(batch.Decimal), of(batch.Int32), "-0.4", precision, "0"},
		{of(batch.Decimal), of(batch.Int32), "2147483647.5", precision, rng},
		{of(batch.Decimal), of(batch.Int32), "2147483648", rng, rng},
		{of(batch.Decimal), of(batch.Uint8), "-1", rng, rng},
		{of(batch.Decimal), of(batch.Int64), "Infinity", rng, rng},

		{of(batch.Int64), of(batch.Float64), "9007199254740992", "9.007199254740992e+15", "9.007199254740992e+15"},
		{of(batch.Int64), of(batch.Float64), "9007199254740993", precision, "9.007199254740992e+15"},
		{of(batch.Int64), of(batch.Float64), "1000000000000000000", "1e+18", "1e+18"},
		{of(batch.Int64), of(batch.Float64), "-42", "-42", "-42"},
		{of(batch.Int32), of(batch.Float32), "16777216", "1.6777216e+07", "1.6777216e+07"},
		{of(batch.Int32), of(batch.Float32), "16777217", precision, "1.6777216e+07"},
		{of(batch.Uint64), of(batch.Float64), "18446744073709551615", precision, "1.8446744073709552e+19"},
		{of(batch.Decimal), of(batch.Float64), "0.5", "0.5", "0.5"},
		{of(batch.Decimal), of(batch.Float64), "0.1", precision, "0.1"},
		{of(batch.Decimal), of(batch.Float64), "99999999999999.99", precision, "99999999999999.98"},
		{of(batch.Decimal), of(batch.Float64), "1e23", precision, "1e+23"},
		{of(batch.Decimal), of(batch.Float64), "1e22", "1e+22", "1e+22"},
		{of(batch.Decimal), of(batch.Float64), "0.00", "0", "0"},
		{of(batch.Decimal), of(batch.Float64), "0.1000000000000000055511151231257827021181583404541015625", "0.1", "0.1"},
		{of(batch.Decimal), of(batch.Float64), "0.1000000000000000055511151231257827021181583404541015626", precision, "0.1"},
		{of(batch.Decimal), of(batch.Float64), "1e400", rng, rng},
		{of(batch.Decimal), of(batch.Float64), "NaN", "NaN", "NaN"},
		{of(batch.Decimal), dec(4, 2), "1.005", pass, "1.01"},
		{of(batch.Decimal), dec(4, 2), "-1.005", pass, "-1.01"},
		{of(batch.Decimal), dec(4, 2), "99.995", pass, rng},
		{of(batch.Decimal), dec(4, 2), "-0.004", pass, "0.00"},
		{of(batch.Decimal), dec(4, 2), "7.1", pass, "7.10"},
		{of(batch.Decimal), dec(3, -2), "12350", pass, "12400"},
		{of(batch.Decimal), dec(3, -2), "49", pass, "0"},
		{of(batch.Decimal), dec(3, -2), "50", pass, "100"},
		{of(batch.Decimal), dec(3, -4), "50", pass, "0"},
		{of(batch.Decimal), dec(3, -2), "99950", pass, rng},
		{of(batch.Decimal), dec(3, 5), "0.000014", pass, "0.00001"},
		{of(batch.Int32), dec(3, -1), "123", pass, "120"},

		{of(batch.Float64), of(batch.Int64), "12", "12", "12"},
		{of(batch.Float64), of(batch.Int64), "12.5", precision, "13"},
		{of(batch.Float64), of(batch.Int64), "-12.5", precision, "-13"},
		{of(batch.Float64), of(batch.Int64), "1.152921504606847e+18", "1152921504606846976", "1152921504606846976"},
		{of(batch.Float64), of(batch.Int64), "9.223372036854776e+18", rng, rng},
		{of(batch.Float64), of(batch.Uint64), "9.223372036854776e+18", "9223372036854775808", "9223372036854775808"},
		{of(batch.Float64), of(batch.Uint64), "1.8446744073709552e+19", rng, rng},
		{of(batch.Float64), of(batch.Uint8), "-0", "0", "0"},
		{of(batch.Float64), of(batch.Uint8), "-0.4", precision, "0"},
		{of(batch.Float64), of(batch.Int8), "NaN", rng, rng},
		{of(batch.Float64), of(batch.Decimal), "0.5", "0.5", "0.5"},
		{of(batch.Float64), of(batch.Decimal), "0.1", precision, "0.1"},
		{of(batch.Float64), of(batch.Decimal), "1e+20", "100000000000000000000", "100000000000000000000"},
		{of(batch.Float64), of(batch.Decimal), "1.152921504606847e+18", "1152921504606846976", "1152921504606847000"},
		{of(batch.Float64), of(batch.Decimal), "1e+23", "99999999999999991611392", "100000000000000000000000"},
		{of(batch.Float64), of(batch.Decimal), "NaN", "NaN", "NaN"},
		{of(batch.Float64), dec(5, 2), "2.675", precision, "2.68"},
		{of(batch.Float32), of(batch.Decimal), "0.1", precision, "0.1"},
		{of(batch.Float32), of(batch.Decimal), "0.25", "0.25", "0.25"},
		{of(batch.Float32), of(batch.Float64), "0.1", "0.10000000149011612", "0.10000000149011612"},
		{of(batch.Float64), of(batch.Float32), "0.25", "0.25", "0.25"},
		{of(batch.Float64), of(batch.Float32), "0.1", precision, "0.1"},
		{of(batch.Float64), of(batch.Float32), "1e+300", rng, rng},
		{of(batch.Float64), of(batch.Float32), "1e-300", rng, rng},
		{of(batch.Float64), of(batch.Float32), "-Infinity", "-Infinity", "-Infinity"},

		// MySQL's BIT(8) b'00000101' is 5 or the byte 05; BIT(64) of ones is eight bytes FF.
		{bit(8), of(batch.Int32), "00000101", "5", "5"},
		{bit(8), of(batch.Int8), "11111111", rng, rng},
		{bit(8), of(batch.Bytes), "00000101", "\x05", "\x05"},
		{bit(10), of(batch.Bytes), "1000000101", "\x02\x05", "\x02\x05"},
		{bit(64), of(batch.Bytes), strings.Repeat("1", 64), strings.Repeat("\xff", 8), strings.Repeat("\xff", 8)},
		{bit(64), of(batch.Uint64), strings.Repeat("1", 64), "18446744073709551615", "18446744073709551615"},
		{bit(64), of(batch.Int64), strings.Repeat("1", 64), rng, rng},
		{bit(64), of(batch.Decimal), strings.Repeat("1", 64), "18446744073709551615", "18446744073709551615"},
		{bit(65), of(batch.Uint64), "1" + strings.Repeat("0", 64), rng, rng},
		{bit(1), of(batch.Bool), "1", "true", "true"},
		{bit(2), of(batch.Bool), "01", length, length},
		{of(batch.Int32), bit(8), "5", "00000101", "00000101"},
		{of(batch.Int32), bit(2), "5", length, length},
		{of(batch.Int32), bit(8), "-5", rng, rng},
		{of(batch.Bytes), bit(8), "\x05", "00000101", "00000101"},
		{of(batch.Bytes), bit(10), "\x02\x05", "1000000101", "1000000101"},
		{of(batch.Bytes), bit(9), "\x02\x05", length, length},

		{of(batch.Bytes), of(batch.Text), "\x00\xff", `\x00ff`, `\x00ff`},
		{of(batch.Text), of(batch.Bytes), `\x00FF`, "\x00\xff", "\x00\xff"},
		{of(batch.Untyped), of(batch.Bytes), "plain", "plain", "plain"},
		{of(batch.Untyped), of(batch.Bytes), `\xzz`, syntax, syntax},
		{of(batch.Untyped), of(batch.Bytes), "", "", ""},
		// A BINARY(16) that holds a uuid stays bytes unless a cast is asked for.
		{of(batch.Bytes), of(batch.UUID), "0123456789abcdef", none, "30313233-3435-3637-3839-616263646566"},
		{of(batch.Bytes), of(batch.UUID), "short", none, length},
		{of(batch.UUID), of(batch.Bytes), "30313233-3435-3637-3839-616263646566", none, "0123456789abcdef"},
		{of(batch.UUID), of(batch.Text), "30313233-3435-3637-3839-616263646566", pass, pass},

		{of(batch.Date), of(batch.Timestamp), "2024-01-31", "2024-01-31 00:00:00", "2024-01-31 00:00:00"},
		{of(batch.Date), of(batch.Timestamp), "0044-03-15 BC", "0044-03-15 00:00:00 BC", "0044-03-15 00:00:00 BC"},
		{of(batch.Date), of(batch.Timestamp), "infinity", "infinity", "infinity"},
		{of(batch.Date), of(batch.Timestamp), "0000-00-00", "0000-00-00 00:00:00", "0000-00-00 00:00:00"},
		{of(batch.Date), of(batch.Instant), "2024-01-31", "2024-01-31 00:00:00+00", "2024-01-31 00:00:00+00"},
		// Oracle's DATE keeps its time.
		{of(batch.Timestamp), of(batch.Date), "2024-05-06 07:08:09", precision, "2024-05-06"},
		{of(batch.Timestamp), of(batch.Date), "1969-12-31 23:59:59.5", precision, "1969-12-31"},
		{of(batch.Timestamp), of(batch.Date), "2024-05-06 00:00:00", "2024-05-06", "2024-05-06"},
		{of(batch.Instant), of(batch.Date), "2024-05-06 00:00:00.000001+00", precision, "2024-05-06"},
		{of(batch.Timestamp), of(batch.Instant), "2024-03-10 02:30:00", "2024-03-10 02:30:00+00", "2024-03-10 02:30:00+00"},
		{of(batch.Instant), of(batch.Timestamp), "2024-03-10 02:30:00+00", "2024-03-10 02:30:00", "2024-03-10 02:30:00"},
		{of(batch.Instant), of(batch.Timestamp), "-infinity", "-infinity", "-infinity"},
		{of(batch.Timestamp), of(batch.Instant), "2024-01-01 00:00:00.123456789", "2024-01-01 00:00:00.123456789+00", "2024-01-01 00:00:00.123456789+00"},
		{of(batch.Timestamp), fraction(batch.Timestamp, 6), "2024-01-01 00:00:00.1234565", pass, "2024-01-01 00:00:00.123457"},
		{of(batch.Timestamp), fraction(batch.Timestamp, 0), "2024-12-31 23:59:59.5", pass, "2025-01-01 00:00:00"},
		{of(batch.Timestamp), fraction(batch.Timestamp, 0), "1969-12-31 23:59:59.4", pass, "1969-12-31 23:59:59"},
		{of(batch.Timestamp), of(batch.Time), "2024-05-06 07:08:09.5", none, "07:08:09.5"},
		{of(batch.Timestamp), of(batch.Time), "infinity", none, rng},
		{of(batch.Instant), of(batch.TimeTZ), "2024-05-06 07:08:09+00", none, "07:08:09+00:00"},
		{of(batch.Time), of(batch.TimeTZ), "07:08:09", "07:08:09+00:00", "07:08:09+00:00"},
		{of(batch.Time), of(batch.TimeTZ), "25:00:00", rng, rng},
		{of(batch.TimeTZ), of(batch.Time), "07:08:09+00:00", "07:08:09", "07:08:09"},
		{of(batch.TimeTZ), of(batch.Time), "07:08:09+01:00", precision, "07:08:09"},
		{of(batch.Time), of(batch.Interval), "-838:59:59", "PT-838H-59M-59S", "PT-838H-59M-59S"},
		{of(batch.Interval), of(batch.Time), "PT-838H-59M-59S", "-838:59:59", "-838:59:59"},
		{of(batch.Interval), fraction(batch.Interval, 3), "P1DT1.0005S", pass, "P1DT1.001S"},
		{of(batch.Interval), fraction(batch.Interval, 0), "PT-0.5S", pass, "PT0S"},
		{of(batch.Interval), of(batch.Time), "P1DT1H", precision, precision},

		{of(batch.Text), of(batch.Int32), " 007 ", pass, "7"},
		{of(batch.Text), of(batch.Int32), "", pass, syntax},
		{of(batch.Text), dec(4, 2), "1.005", pass, "1.01"},
		{of(batch.Untyped), of(batch.Bool), "YES", pass, "true"},
		{of(batch.Text), of(batch.Date), "2024-02-30", pass, rng},
		{of(batch.Text), batch.Type{Kind: batch.Text, Length: 2}, "abc", pass, pass},
		{of(batch.Int64), of(batch.JSON), "9007199254740993", pass, pass},
		{of(batch.Decimal), of(batch.JSON), "7.10", "7.10", "7.10"},
		{of(batch.Decimal), of(batch.JSON), "Infinity", rng, rng},
		{of(batch.Date), of(batch.JSON), "2024-01-31", `"2024-01-31"`, `"2024-01-31"`},
		{of(batch.JSON), of(batch.Text), `"x"`, pass, pass},
	} {
		for name, convert := range map[string]func(from, to batch.Type) (value.Converter, error){
			"Convert": value.Convert, "ConvertCast": value.ConvertCast,
		} {
			want := c.implicit
			if name == "ConvertCast" {
				want = c.cast
			}
			if got := convertOne(convert, c.from, c.to, c.cell); got != want {
				t.Errorf("%s from %s to %s of %q gives %q, want %q", name, c.from, c.to, c.cell, got, want)
			}
		}
	}
}

func convertOne(convert func(from, to batch.Type) (value.Converter, error), from, to batch.Type, cell string) string {
	f, err := convert(from, to)
	if err != nil {
		return class(err)
	}
	if f == nil {
		return "="
	}
	got, err := f([]byte("kept"), []byte(cell))
	rest, kept := strings.CutPrefix(string(got), "kept")
	switch {
	case !kept, err != nil && rest != "":
		return fmt.Sprintf("dst was changed to %q", got)
	case err != nil:
		return class(err)
	}
	return rest
}

func class(err error) string {
	for name, class := range map[string]error{
		"!precision": value.ErrPrecision, "!range": value.ErrRange, "!syntax": value.ErrSyntax,
		"!length": value.ErrLength, "!none": value.ErrNoConversion,
	} {
		if errors.Is(err, class) {
			return name
		}
	}
	return err.Error()
}
