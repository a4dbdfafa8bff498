package value_test

import (
	"fmt"
	"testing"

	"github.com/leatdata/leat/batch/value"
)

// textCase is a text, what it is canonically, or the class of its error.
type textCase struct {
	in, want string
	class    error
}

func TestParseDate(t *testing.T) {
	for _, c := range []textCase{
		{"2024-01-31", "2024-01-31", nil},
		{"1969-07-20", "1969-07-20", nil},
		{"2000-02-29", "2000-02-29", nil},
		{"0001-01-01", "0001-01-01", nil},
		{" 2024-1-5 ", "2024-01-05", nil},
		{"2024/01/31", "2024-01-31", nil},
		{"12024-01-31", "12024-01-31", nil},
		{"5874897-12-31", "5874897-12-31", nil},
		{"0044-03-15 BC", "0044-03-15 BC", nil},
		{"0001-02-29 bc", "0001-02-29 BC", nil}, // year 0 is a leap year
		{"4714-11-24 BC", "4714-11-24 BC", nil},
		{"infinity", "infinity", nil},
		{"-Infinity", "-infinity", nil},
		{"0000-00-00", "0000-00-00", nil},
		{"2023-02-30", "", value.ErrRange},
		{"1900-02-29", "", value.ErrRange},
		{"2024-13-01", "", value.ErrRange},
		{"2024-00-10", "", value.ErrRange},
		{"2024-04-31", "", value.ErrRange},
		{"0000-01-01", "", value.ErrRange},
		{"0000-00-00 BC", "", value.ErrRange},
		{"99999999-01-01", "", value.ErrRange},
		{"9999999999999-01-01", "", value.ErrRange},
		{"", "", value.ErrSyntax},
		{"24-01-31", "", value.ErrSyntax},
		{"2024-01", "", value.ErrSyntax},
		{"2024-01-", "", value.ErrSyntax},
		{"2024-01/31", "", value.ErrSyntax},
		{"31.01.2024", "", value.ErrSyntax},
		{"01/31/2024", "", value.ErrSyntax},
		{"20240131", "", value.ErrSyntax},
		{"2024-01-311", "", value.ErrSyntax},
		{"2024-01-31 00:00:00", "", value.ErrSyntax},
		{"-2024-01-31", "", value.ErrSyntax},
		{"2024-01-31BC", "", value.ErrSyntax},
	} {
		d, err := value.ParseDate([]byte(c.in))
		same(t, fmt.Sprintf("ParseDate(%q)", c.in), string(value.AppendDate(nil, d)), err, c.want, c.class)
	}
}

func TestDatesCountFrom2000(t *testing.T) {
	for in, want := range map[string]value.Date{
		"2000-01-01": 0, "1999-12-31": -1, "1970-01-01": -value.UnixDays, "2000-03-01": 60,
		"5874897-12-31": 2145031948, "4714-11-24 BC": -2451545, // the ends of PostgreSQL's dates
	} {
		if got, err := value.ParseDate([]byte(in)); err != nil || got != want {
			t.Errorf("ParseDate(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []textCase{
		{"13:05:00.123456", "13:05:00.123456", nil},
		{"13:05:00.100", "13:05:00.1", nil},
		{"13:05:00.123456000", "13:05:00.123456", nil},
		{"13:05", "13:05:00", nil},
		{"1:05:09", "01:05:09", nil},
		{"24:00:00", "24:00:00", nil},
		{"838:59:59", "838:59:59", nil},
		{"-838:59:59.000001", "-838:59:59.000001", nil},
		{"-00:00:01", "-00:00:01", nil},
		{"-00:00", "00:00:00", nil},
		{"13:05:00.1234567", "", value.ErrPrecision},
		{"13:05:00.1234560001", "", value.ErrPrecision},
		{"13:60:00", "", value.ErrRange},
		{"23:59:60", "", value.ErrRange},
		{"9999999:00", "", value.ErrRange},
		{"", "", value.ErrSyntax},
		{"13", "", value.ErrSyntax},
		{"13:5", "", value.ErrSyntax},
		{"13:05:0", "", value.ErrSyntax},
		{"13:05:00.", "", value.ErrSyntax},
		{"13:05:00+01", "", value.ErrSyntax},
		{"1:05 PM", "", value.ErrSyntax},
		{"130500", "", value.ErrSyntax},
	} {
		v, err := value.ParseTime([]byte(c.in))
		same(t, fmt.Sprintf("ParseTime(%q)", c.in), string(value.AppendTime(nil, v)), err, c.want, c.class)
	}
}

func TestParseTimeTZ(t *testing.T) {
	for _, c := range []textCase{
		{"13:05:00+05:30", "13:05:00+05:30", nil},
		{"13:05:00.5+05", "13:05:00.5+05:00", nil},
		{"13:05 -0330", "13:05:00-03:30", nil},
		{"13:05:00Z", "13:05:00+00:00", nil},
		{"13:05:00-00", "13:05:00+00:00", nil},
		{"13:05:00+00:19:32", "13:05:00+00:19:32", nil},
		{"24:00:00+15:59", "24:00:00+15:59", nil},
		{"24:00:01+01", "", value.ErrRange},
		{"13:05:00+16", "", value.ErrRange},
		{"13:05:00+05:60", "", value.ErrRange},
		{"13:05:00.0000001Z", "", value.ErrPrecision},
		{"13:05:00", "", value.ErrSyntax},
		{"13:05:00+5", "", value.ErrSyntax},
		{"13:05:00+05:3", "", value.ErrSyntax},
		{"13:05:00+05:30:15:10", "", value.ErrSyntax},
		{"13:05:00 CET", "", value.ErrSyntax},
	} {
		v, err := value.ParseTimeTZ([]byte(c.in))
		same(t, fmt.Sprintf("ParseTimeTZ(%q)", c.in), string(value.AppendTimeTZ(nil, v)), err, c.want, c.class)
	}
}

func TestParseTimestamp(t *testing.T) {
	for _, c := range []textCase{
		{"2024-01-31 13:05:00.123456", "2024-01-31 13:05:00.123456", nil},
		{"2024-01-31T13:05:00", "2024-01-31 13:05:00", nil},
		{"2024-03-10 02:30:00", "2024-03-10 02:30:00", nil}, // no such time in New York
		{"1969-12-31 23:59:59.5", "1969-12-31 23:59:59.5", nil},
		{"2024-01-31", "2024-01-31 00:00:00", nil},
		{"2024-01-31 13:05", "2024-01-31 13:05:00", nil},
		{"2024-12-31 24:00:00", "2025-01-01 00:00:00", nil},
		{"0044-03-15 13:05:00 BC", "0044-03-15 13:05:00 BC", nil},
		{"294276-12-31 23:59:59.999999", "294276-12-31 23:59:59.999999", nil},
		{"4714-11-24 00:00:00 BC", "4714-11-24 00:00:00 BC", nil},
		{"infinity", "infinity", nil},
		{"-infinity", "-infinity", nil},
		{"0000-00-00 00:00:00", "0000-00-00 00:00:00", nil},
		{"2024-01-01T00:00:00.123456789", "", value.ErrPrecision},
		{"2024-01-01 00:00:00.1234560000", "2024-01-01 00:00:00.123456", nil},
		{"294278-01-01 00:00:00", "", value.ErrRange},
		{"300000-01-01", "", value.ErrRange},
		{"0000-00-00 00:00:01", "", value.ErrRange},
		{"2024-01-31 24:00:01", "", value.ErrRange},
		{"2024-01-31 25:00:00", "", value.ErrRange},
		{"2024-02-30 00:00:00", "", value.ErrRange},
		{"2024-01-31 13:05:00Z", "", value.ErrSyntax},
		{"2024-01-31 13:05:00+01", "", value.ErrSyntax},
		{"2024-01-31 ", "2024-01-31 00:00:00", nil},
		{"2024-01-31T", "", value.ErrSyntax},
		{"2024-01-31_13:05:00", "", value.ErrSyntax},
		{"2024-01-31 13", "", value.ErrSyntax},
		{"1706706300", "", value.ErrSyntax},
		{"", "", value.ErrSyntax},
	} {
		v, err := value.ParseTimestamp([]byte(c.in))
		same(t, fmt.Sprintf("ParseTimestamp(%q)", c.in), string(value.AppendTimestamp(nil, v)), err, c.want, c.class)
	}
}

func TestParseInstant(t *testing.T) {
	for _, c := range []textCase{
		{"2024-01-31 13:05:00+00", "2024-01-31 13:05:00+00", nil},
		{"2024-01-31T13:05:00Z", "2024-01-31 13:05:00+00", nil},
		{"2024-01-01 00:00:00 +05:30", "2023-12-31 18:30:00+00", nil},
		{"2024-01-01 00:00:00+0530", "2023-12-31 18:30:00+00", nil},
		{"2024-12-31 23:00:00-01", "2025-01-01 00:00:00+00", nil},
		{"2024-12-31 23:00:00.5-03:30:15", "2025-01-01 02:30:15.5+00", nil},
		{"2024-01-31 13:05:00 UTC", "2024-01-31 13:05:00+00", nil},
		{"0044-03-15 13:05:00+00 BC", "0044-03-15 13:05:00+00 BC", nil},
		{"0001-01-01 00:00:00+01", "0001-12-31 23:00:00+00 BC", nil},
		{"infinity", "infinity", nil},
		{"0000-00-00 00:00:00", "0000-00-00 00:00:00+00", nil},
		{"2024-01-31 13:05:00.1234567Z", "", value.ErrPrecision},
		{"2024-01-31 13:05:00+15:59:59", "2024-01-30 21:05:01+00", nil},
		{"2024-01-31 13:05:00+16", "", value.ErrRange},
		{"2024-01-31 13:05:00", "", value.ErrSyntax},
		{"2024-01-31", "", value.ErrSyntax},
		{"2024-01-31Z", "", value.ErrSyntax},
		{"2024-01-31 13:05:00 CST", "", value.ErrSyntax}, // Chicago's or China's?
		{"2024-01-31 13:05:00+", "", value.ErrSyntax},
	} {
		v, err := value.ParseInstant([]byte(c.in))
		same(t, fmt.Sprintf("ParseInstant(%q)", c.in), string(value.AppendInstant(nil, v)), err, c.want, c.class)
	}
}

func TestTimestampsCountMicrosecondsFrom2000(t *testing.T) {
	for in, want := range map[string]value.Timestamp{
		"2000-01-01 00:00:00":          0,
		"1999-12-31 23:59:59.999999":   -1,
		"1970-01-01 00:00:00":          value.Timestamp(-value.UnixMicros),
		"294276-12-31 23:59:59.999999": 9223371331200000000 - 1,
		"4714-11-24 00:00:00 BC":       -211813488000000000,
	} {
		if got, err := value.ParseTimestamp([]byte(in)); err != nil || got != want {
			t.Errorf("ParseTimestamp(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
}

func TestFineFractionsAreCutTowardsThePast(t *testing.T) {
	v, err := value.ParseTimestamp([]byte("1969-12-31 23:59:59.9999999"))
	same(t, "ParseTimestamp", "", err, "", value.ErrPrecision)
	if got := string(value.AppendTimestamp(nil, v)); got != "1969-12-31 23:59:59.999999" {
		t.Errorf("cut to %s", got)
	}
}

func TestParseInterval(t *testing.T) {
	for _, c := range []textCase{
		{"P1Y2M3DT4H5M6.7S", "P1Y2M3DT4H5M6.7S", nil},
		{"PT0S", "PT0S", nil},
		{"P0D", "PT0S", nil},
		{"P2W", "P14D", nil},
		{"P14M", "P1Y2M", nil},
		{"P-1Y2M", "P-10M", nil},
		{"-P1DT2H", "P-1DT-2H", nil},
		{"PT-0.000001S", "PT-0.000001S", nil},
		{"PT36H", "PT36H", nil},
		{"1 year 2 mons -3 days 04:05:06.7", "P1Y2M-3DT4H5M6.7S", nil},
		{"-04:05:06", "PT-4H-5M-6S", nil},
		{"00:00:00", "PT0S", nil},
		{"-1 years -2 mons +3 days -04:05:06.789", "P-1Y-2M3DT-4H-5M-6.789S", nil},
		{"@ 1 hour 2 mins 3.5 secs ago", "PT-1H-2M-3.5S", nil},
		{"2 weeks", "P14D", nil},
		{"@ 0", "PT0S", nil},
		{"0", "", value.ErrSyntax},
		{"838:59:59", "PT838H59M59S", nil},
		{"infinity", "infinity", nil},
		{"-infinity", "-infinity", nil},
		{"P178956970Y7M", "P178956970Y7M", nil},
		{"P178956970Y8M", "", value.ErrRange},
		{"P2147483648D", "", value.ErrRange},
		{"PT2562047789H", "", value.ErrRange},
		{"PT2562047788H60M", "", value.ErrRange},
		{"PT0.0000001S", "", value.ErrPrecision},
		{"00:00:00.0000001", "", value.ErrPrecision},
		{"", "", value.ErrSyntax},
		{"P", "", value.ErrSyntax},
		{"PT", "", value.ErrSyntax},
		{"P1DT", "", value.ErrSyntax},
		{"P1", "", value.ErrSyntax},
		{"P1.5D", "", value.ErrSyntax},
		{"P1D2Y", "", value.ErrSyntax},
		{"P1D1D", "", value.ErrSyntax},
		{"P1H", "", value.ErrSyntax},
		{"PT1D", "", value.ErrSyntax},
		{"PT1S2S", "", value.ErrSyntax},
		{"P1YX", "", value.ErrSyntax},
		{"p1d", "", value.ErrSyntax},
		{"5", "", value.ErrSyntax},
		{"1 fortnight", "", value.ErrSyntax},
		{"1.5 days", "", value.ErrSyntax},
		{"ago", "", value.ErrSyntax},
	} {
		v, err := value.ParseInterval([]byte(c.in))
		same(t, fmt.Sprintf("ParseInterval(%q)", c.in), string(value.AppendInterval(nil, v)), err, c.want, c.class)
	}
}
