package value_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/testenv"
)

// server asks PostgreSQL what an expression over x makes of each text.
func server(t *testing.T, expression, settings string, texts []string) []string {
	t.Helper()
	pg := testenv.Postgres(t)
	var sql strings.Builder
	sql.WriteString("SET timezone = 'UTC'; " + settings + "; SELECT (" + expression + ")::text FROM (VALUES ")
	for i, text := range texts {
		if i > 0 {
			sql.WriteString(", ")
		}
		fmt.Fprintf(&sql, "(%d, '%s')", i, strings.ReplaceAll(text, "'", "''"))
	}
	sql.WriteString(") AS v (i, x) ORDER BY i")
	rows := pg.Rows(t, pg.URL("postgres"), sql.String())
	if len(rows) != len(texts) {
		t.Fatalf("%d rows for %d texts", len(rows), len(texts))
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = row[0]
	}
	return out
}

// random has the same seed in each run: a failure can be repeated.
func random() *rand.Rand { return rand.New(rand.NewPCG(2, 27)) }

// agree makes the canonical texts and compares them with what the server prints.
func agree(t *testing.T, to batch.Type, expression, settings string, texts []string) {
	t.Helper()
	canonical, err := value.Canonical(to)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range server(t, expression, settings, texts) {
		got, err := canonical(nil, []byte(texts[i]))
		if err == nil && to.Kind.IsFloat() && len(got) < len(want) {
			// A text half way to the next float: shorter, and the same float.
			if again, err := canonical(nil, []byte(want)); err == nil && string(again) == string(got) {
				continue
			}
		}
		if err != nil || string(got) != want {
			t.Errorf("%s of %q is %s, %v; PostgreSQL says %s", to, texts[i], got, err, want)
		}
	}
}

func TestFloatsAsPostgreSQLPrintsThem(t *testing.T) {
	r := random()
	texts := []string{
		"0", "-0", "1", "0.1", "1e-4", "0.00012345", "0.0001", "0.00009999", "123456789012345", "999999999999999",
		"1e15", "1e20", "1e308", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "NaN", "Infinity", "-Infinity",
		"31.95376472", "100", "1e5", "-1234.5", "9007199254740993", "0.30000000000000004",
	}
	for range 3000 {
		f := math.Float64frombits(r.Uint64())
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			texts = append(texts, fmt.Sprintf("%.17g", f), fmt.Sprintf("%.6f", r.NormFloat64()*1e6), fmt.Sprint(r.Float64()))
		}
	}
	agree(t, batch.Of(batch.Float64), "x::float8", "SET extra_float_digits = 1", texts)

	texts = []string{"0", "-0", "0.1", "1e5", "999999", "1e6", "1234567", "16777216", "1e-4", "0.00009", "1e-45", "3.4028235e38", "NaN", "-Infinity"}
	for range 3000 {
		f := math.Float32frombits(r.Uint32())
		if f == f && !math.IsInf(float64(f), 0) {
			texts = append(texts, fmt.Sprintf("%.9g", f), fmt.Sprint(r.Float32()*1000))
		}
	}
	agree(t, batch.Of(batch.Float32), "x::float4", "SET extra_float_digits = 1", texts)
}

func TestDecimalsAsPostgreSQLPrintsThem(t *testing.T) {
	texts := []string{
		"7.10", "-0.00", "007.10", ".5", "5.", "1e3", "1.50e1", "1.50e2", "120e-4", "0e5", "1e-20", " +12 ", "NaN",
		"Infinity", "-inf", "99999999999999.99", "12345678901234567890.5", "0.0e-3", "00.00e1",
	}
	r := random()
	for range 3000 {
		text := strings.TrimLeft(fmt.Sprint(r.Uint64N(1<<r.UintN(64))), "") + "." + strings.Repeat("0", r.IntN(4)) + fmt.Sprint(r.Uint32N(1<<r.UintN(32)))
		texts = append(texts, text, fmt.Sprintf("-%se%d", text, r.IntN(40)-20))
	}
	agree(t, batch.Of(batch.Decimal), "x::numeric", "", texts)
}

// Which numbers fit numeric(p,s), and what a cast rounds them to.
func TestDecimalBoundsAsInPostgreSQL(t *testing.T) {
	r := random()
	var texts []string
	for range 1500 {
		texts = append(texts, fmt.Sprintf("%d.%0*d", r.IntN(2000)-1000, 1+r.IntN(6), r.IntN(10)), fmt.Sprintf("%d.%d5", r.IntN(200)-100, r.IntN(1000)))
	}
	for _, c := range []struct{ precision, scale int }{{5, 2}, {3, 0}, {2, -1}, {4, 4}, {3, 5}, {9, 6}} {
		to := batch.Type{Kind: batch.Decimal, Precision: c.precision, Scale: c.scale}
		cast, err := value.ConvertCast(batch.Of(batch.Decimal), to)
		if err != nil {
			t.Fatal(err)
		}
		// The cast alone would fail: round first, and see whether that is small enough.
		expression := fmt.Sprintf("CASE WHEN abs(round(x::numeric, %d)) < 10::numeric ^ %d THEN x::numeric::numeric(%d,%d) END",
			c.scale, c.precision-c.scale, c.precision, c.scale)
		for i, want := range server(t, expression, "", texts) {
			got, err := cast(nil, []byte(texts[i]))
			if want == "NULL" {
				if err == nil {
					t.Errorf("%s of %q is %s; PostgreSQL has none", to, texts[i], got)
				}
				continue
			}
			if err != nil || string(got) != want {
				t.Errorf("%s of %q is %s, %v; PostgreSQL says %s", to, texts[i], got, err, want)
			}
			exact := equalNumbers(t, want, texts[i])
			d, err := value.SplitDecimal([]byte(texts[i]))
			if fits := value.FitsDecimal(&d, c.precision, c.scale) == nil; err != nil || fits != exact {
				t.Errorf("%q fits %s: %t; PostgreSQL stores %s", texts[i], to, fits, want)
			}
		}
	}
}

func equalNumbers(t *testing.T, a, b string) bool {
	t.Helper()
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	if !okX || !okY {
		t.Fatalf("%q or %q is no number", a, b)
	}
	return x.Cmp(y) == 0
}

func TestDatesAsPostgreSQLPrintsThem(t *testing.T) {
	texts := []string{
		"2024-01-31", "0044-03-15 BC", "4714-11-24 BC", "5874897-12-31", "12024-01-31", "infinity", "-infinity",
		"2024-1-5", "2024/01/31", " 2024-01-31 ", "0001-02-29 BC", "0001-01-01",
	}
	r := random()
	for range 3000 {
		d := value.Date(r.IntN(5000000) - 2451545)
		texts = append(texts, string(value.AppendDate(nil, d)))
	}
	agree(t, batch.Of(batch.Date), "x::date", "", texts)
	counted := server(t, "CASE WHEN isfinite(x::date) THEN x::date - '2000-01-01' END", "", texts)
	for i, want := range counted {
		if d, err := value.ParseDate([]byte(texts[i])); want != "NULL" && (err != nil || fmt.Sprint(int32(d)) != want) {
			t.Errorf("%q is day %d, %v; PostgreSQL says %s", texts[i], d, err, want)
		}
	}
}

func TestTimestampsAsPostgreSQLPrintsThem(t *testing.T) {
	texts := []string{
		"2024-01-31", "2024-01-31T13:05:00", "1969-12-31 23:59:59.5", "0044-03-15 13:05:00 BC", "infinity", "-infinity",
		"2024-12-31 24:00:00", "294276-12-31 23:59:59.999999", "4714-11-24 00:00:00 BC", "2024-03-10 02:30", "2024-03-10 2:30:00",
	}
	offsets := []string{
		"2024-01-01 00:00:00 +05:30", "2024-01-01 00:00:00+0530", "2024-01-01T00:00:00Z", "2024-12-31 23:00:00-01",
		"2024-12-31 23:00:00.5-03:30:15", "2024-01-31 13:05:00 UTC", "0044-03-15 13:05:00+00 BC", "0001-01-01 00:00:00+01", "infinity",
	}
	r := random()
	for range 3000 {
		// PostgreSQL's own range: 4714-11-24 BC to 294276-12-31.
		ts := value.Timestamp(int64(r.Uint64N(9223371331200000000+211813488000000000) - 211813488000000000))
		if r.IntN(2) == 0 {
			ts = value.Timestamp(r.Int64N(4e15) - 2e15)
		}
		text := string(value.AppendTimestamp(nil, ts))
		texts = append(texts, text)
		if !strings.HasSuffix(text, "BC") && ts < 9e18 {
			offsets = append(offsets, fmt.Sprintf("%s%+03d:%02d", text, r.IntN(31)-15, r.IntN(60)))
		}
	}
	agree(t, batch.Of(batch.Timestamp), "x::timestamp", "", texts)
	agree(t, batch.Of(batch.Instant), "x::timestamptz", "", offsets)
	counted := server(t, "CASE WHEN isfinite(x::timestamp) AND x::timestamp < '290000-01-01' THEN (extract(epoch FROM x::timestamp) - 946684800) * 1000000 END", "", texts)
	for i, want := range counted {
		want, _, _ = strings.Cut(want, ".")
		if ts, err := value.ParseTimestamp([]byte(texts[i])); want != "NULL" && (err != nil || fmt.Sprint(int64(ts)) != want) {
			t.Errorf("%q is %d, %v; PostgreSQL says %s", texts[i], ts, err, want)
		}
	}
}

func TestTimesAsInPostgreSQL(t *testing.T) {
	agree(t, batch.Of(batch.Time), "x::time", "", []string{"13:05:00.123456", "13:05", "1:05:09.5", "24:00:00", "00:00:00", "23:59:59.999999"})
	canonical, err := value.Canonical(batch.Of(batch.TimeTZ))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"13:05:00.5+05:30", "13:05:00-08", "13:05 +0330", "00:00:00Z", "24:00:00-15:59:59", "1:02:03+00:19:32"}
	// PostgreSQL leaves out the minutes of a whole offset; the same value is meant.
	for i, printed := range server(t, "x::timetz", "", texts) {
		got, err := canonical(nil, []byte(texts[i]))
		want, serverErr := canonical(nil, []byte(printed))
		if err != nil || serverErr != nil || string(got) != string(want) {
			t.Errorf("%q is %s, %v; PostgreSQL prints %s, which is %s, %v", texts[i], got, err, printed, want, serverErr)
		}
	}
}

func TestIntervalsAsPostgreSQLPrintsThem(t *testing.T) {
	texts := []string{"P1Y2M3DT4H5M6.7S", "PT0S", "P14M", "P-1Y2M", "PT-0.000001S", "PT36H", "P2W", "1 year 2 mons -3 days 04:05:06.7"}
	r := random()
	for range 2000 {
		v := value.Interval{Months: r.Int32N(2000) - 1000, Days: r.Int32N(2000) - 1000, Micros: r.Int64N(4e14) - 2e14}
		switch r.IntN(4) {
		case 0:
			v.Micros = v.Micros / value.Second * value.Second
		case 1:
			v.Micros %= value.Minute
		case 2:
			v.Days = 0
		}
		texts = append(texts, string(value.AppendInterval(nil, v)))
	}
	agree(t, batch.Of(batch.Interval), "x::interval", "SET intervalstyle = iso_8601", texts)
	for _, style := range []string{"postgres", "postgres_verbose"} {
		for i, printed := range server(t, "x::interval", "SET intervalstyle = "+style, texts) {
			want, err := value.ParseInterval([]byte(texts[i]))
			if err != nil {
				t.Errorf("%q: %v", texts[i], err)
			}
			if got, err := value.ParseInterval([]byte(printed)); err != nil || got != want {
				t.Errorf("%q in style %s is %q, read as %v, %v, want %v", texts[i], style, printed, got, err, want)
			}
		}
	}
}

func TestArraysAsPostgreSQLPrintsThem(t *testing.T) {
	texts := []string{`{}`, `{1,NULL,"a b"}`, `{"NULL",null,""}`, `{{1,2},{3,4}}`, `[0:1]={a,b}`, `[1:2]={a,b}`, `[2:2][-1:0]={{a,b}}`, `{ a b , "c,d" }`, `{"a\"b","\\","{z}"}`, `{a\,b}`}
	r := random()
	alphabet := []rune("aNul{},\"\\ \té'")
	for range 2000 {
		text := []byte("{")
		for i := range 1 + r.IntN(4) {
			if i > 0 {
				text = append(text, ',')
			}
			var elem []byte
			if r.IntN(8) > 0 {
				elem = []byte{}
				for range r.IntN(6) {
					elem = append(elem, string(alphabet[r.IntN(len(alphabet))])...)
				}
			}
			text = value.AppendArrayElement(text, elem)
		}
		texts = append(texts, string(append(text, '}')))
	}
	elem := batch.Of(batch.Text)
	agree(t, batch.Type{Kind: batch.Array, Elem: &elem}, "x::text[]", "", texts)
}

func TestOthersAsPostgreSQLPrintsThem(t *testing.T) {
	// A canonical boolean is the word that PostgreSQL casts it to.
	agree(t, batch.Of(batch.Bool), "x::bool", "", []string{"t", "TRUE", "yes", "y", "on", "1", "f", "no", "N", "OFF", "0", " true "})
	agree(t, batch.Of(batch.UUID), "x::uuid", "", []string{
		"F47AC10B-58CC-4372-A567-0E02B2C3D479", "f47ac10b58cc4372a5670e02b2c3d479",
		"{f47ac10b-58cc-4372-a567-0e02b2c3d479}", "f47a-c10b-58cc-4372-a567-0e02-b2c3-d479",
	})
	agree(t, batch.Of(batch.Int64), "x::bigint", "", []string{" 42 ", "+7", "-0", "007", "9223372036854775807", "-9223372036854775808"})
	for i, want := range server(t, "x::bytea", "", []string{`\x00ff`, `\x`, `\xABCD`}) {
		b, err := value.ParseHex(nil, []byte([]string{`\x00ff`, `\x`, `\xABCD`}[i]))
		if got := string(value.AppendHex(nil, b)); err != nil || got != want {
			t.Errorf("bytea is %s, %v; PostgreSQL says %s", got, err, want)
		}
	}
}
