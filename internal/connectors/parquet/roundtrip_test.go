package parquet

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/storage"
)

// typeCase is a type with values that come back as they were, and values that
// Parquet cannot hold, each with what its reason says.
type typeCase struct {
	t    batch.Type
	back batch.Type // the type that is read; t's when zero
	good []string
	bad  map[string]string
}

func typeCases() map[string]typeCase {
	decimal := func(p, s int) batch.Type { return batch.Type{Kind: batch.Decimal, Precision: p, Scale: s} }
	of := func(k batch.Kind, fraction int) batch.Type { return batch.Type{Kind: k, Fraction: fraction} }
	micros := []string{
		"2024-01-31 13:05:00.123456", "1969-12-31 23:59:59.5", "1970-01-01 00:00:00", "0001-01-01 00:00:00",
		"0044-03-15 12:00:00 BC", "294247-01-10 04:00:54.775807", "290000-12-22 00:00:00 BC",
	}
	nanos := []string{"2024-01-01 00:00:00.123456789", "1969-12-31 23:59:59.999999999", "1677-09-22 00:00:00", "2262-04-10 23:59:59.999999999"}
	noMoment := map[string]string{
		"infinity": "infinity", "-infinity": "infinity", "0000-00-00 00:00:00": "zero date",
		"2024-01-01 00:00:00.1234567": "microsecond", "294247-01-10 04:00:54.775808": "", "x": "",
	}
	noNanos := map[string]string{"infinity": "infinity", "1677-09-20 00:00:00": "1677", "2262-04-12 00:00:00": "2262"}
	zoned := func(texts []string) []string {
		var all []string
		for _, s := range texts {
			day, bc := strings.CutSuffix(s, " BC")
			day += "+00"
			if bc {
				day += " BC"
			}
			all = append(all, day)
		}
		return all
	}
	integer := func(k batch.Kind, low, high, under, over string) typeCase {
		return typeCase{t: batch.Of(k), good: []string{low, "0", "7", high}, bad: map[string]string{under: "range", over: "range", "1.5": ""}}
	}
	return map[string]typeCase{
		"bool":   {t: batch.Of(batch.Bool), good: []string{"true", "false"}, bad: map[string]string{"2": ""}},
		"int8":   integer(batch.Int8, "-128", "127", "-129", "128"),
		"int16":  integer(batch.Int16, "-32768", "32767", "-32769", "32768"),
		"int32":  integer(batch.Int32, "-2147483648", "2147483647", "-2147483649", "2147483648"),
		"int64":  integer(batch.Int64, "-9223372036854775808", "9223372036854775807", "-9223372036854775809", "9223372036854775808"),
		"uint8":  integer(batch.Uint8, "1", "255", "-1", "256"),
		"uint16": integer(batch.Uint16, "1", "65535", "-1", "65536"),
		"uint32": integer(batch.Uint32, "1", "4294967295", "-1", "4294967296"),
		"uint64": integer(batch.Uint64, "1", "18446744073709551615", "-1", "18446744073709551616"),
		"float32": {
			t: batch.Of(batch.Float32), bad: map[string]string{"1e39": "", "x": ""},
			good: []string{"0", "-0", "NaN", "Infinity", "-Infinity", "1.5", "3.4028235e+38", "1e-45", "-1.1754944e-38", "0.1"},
		},
		"float64": {
			t: batch.Of(batch.Float64), bad: map[string]string{"1e309": "", "x": ""},
			good: []string{"0", "-0", "NaN", "Infinity", "-Infinity", "1.5", "1.7976931348623157e+308", "5e-324", "0.1", "-2.2250738585072014e-308"},
		},
		"decimal(9,2)": {
			t: decimal(9, 2), good: []string{"0.00", "9999999.99", "-9999999.99", "7.10", "-0.01"},
			bad: map[string]string{"10000000.00": "", "0.001": "", "NaN": "decimal", "Infinity": "decimal", "-Infinity": "decimal", "x": ""},
		},
		"decimal(2,2)": {t: decimal(2, 2), good: []string{"0.00", "0.99", "-0.99"}, bad: map[string]string{"1.00": ""}},
		"decimal(18,0)": {
			t: decimal(18, 0), good: []string{"999999999999999999", "-999999999999999999", "0"}, bad: map[string]string{"1000000000000000000": ""},
		},
		"decimal(18,4)": {t: decimal(18, 4), good: []string{"99999999999999.9999", "-99999999999999.9999"}},
		"decimal(19,4)": {
			t: decimal(19, 4), good: []string{"999999999999999.9999", "-999999999999999.9999", "0.0000", "-0.0001"}, bad: map[string]string{"1000000000000000.0000": ""},
		},
		"decimal(38,10)": {
			t:    decimal(38, 10),
			good: []string{"9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999", "0.0000000000", "-0.0000000001", "18446744073709551616.0000000000"},
			bad:  map[string]string{"10000000000000000000000000000.0000000000": "", "NaN": "decimal"},
		},
		"decimal(38,38)": {t: decimal(38, 38), good: []string{"0.99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001"}},
		"decimal(5,-2)":  {t: decimal(5, -2), back: decimal(7, 0), good: []string{"1234500", "-100"}},
		"decimal(2,4)":   {t: decimal(2, 4), back: decimal(4, 4), good: []string{"0.0099"}},
		"decimal":        {t: batch.Of(batch.Decimal), back: batch.Of(batch.Text), good: []string{"12345678901234567890123456789012345678901234567890.5", "NaN", "7.10"}},
		"decimal(39,0)":  {t: decimal(39, 0), back: batch.Of(batch.Text), good: []string{"999999999999999999999999999999999999999"}},
		"text":           {t: batch.Of(batch.Text), good: []string{"", "a", "😀𠀀", "two\nlines", "\x00", strings.Repeat("long ", 5000)}, bad: map[string]string{"\xff": "UTF-8"}},
		"untyped":        {t: batch.Of(batch.Untyped), back: batch.Of(batch.Text), good: []string{"", "x"}},
		"bytes":          {t: batch.Of(batch.Bytes), good: []string{"", "\x00\xff", "abc"}},
		"date": {
			t: batch.Of(batch.Date), good: []string{"2024-02-29", "1969-07-20", "0001-01-01", "0044-03-15 BC", "5874897-12-31"},
			bad: map[string]string{"infinity": "infinity", "-infinity": "infinity", "0000-00-00": "zero date", "2023-02-29": ""},
		},
		"time": {
			t: of(batch.Time, 0), back: of(batch.Time, 7), good: []string{"00:00:00", "23:59:59.999999", "12:00:00.5"},
			bad: map[string]string{"24:00:00": "24:00:00", "-00:00:01": "24:00:00", "100:00:00": "24:00:00", "00:00:00.0000001": "microsecond"},
		},
		"time of nanoseconds": {t: of(batch.Time, 10), good: []string{"00:00:00.000000001", "23:59:59.999999999"}, bad: map[string]string{"24:00:00": ""}},
		"timestamp":           {t: of(batch.Timestamp, 0), back: of(batch.Timestamp, 7), good: micros, bad: noMoment},
		"timestamp of millis": {t: of(batch.Timestamp, 4), back: of(batch.Timestamp, 7), good: []string{"2024-01-31 13:05:00.123"}},
		"timestamp of nanos":  {t: of(batch.Timestamp, 10), good: nanos, bad: noNanos},
		"instant":             {t: of(batch.Instant, 7), good: zoned(micros), bad: map[string]string{"infinity": "infinity", "2024-01-31 13:05:00": ""}},
		"instant of nanos":    {t: of(batch.Instant, 10), good: zoned(nanos), bad: map[string]string{"infinity": "infinity"}},
		"uuid":                {t: batch.Of(batch.UUID), good: []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}, bad: map[string]string{"x": ""}},
		"json":                {t: batch.Of(batch.JSON), good: []string{`{"a": [1, 2.50, null]}`, `"x"`, "null", "1"}, bad: map[string]string{"{": "JSON"}},
		"interval":            {t: batch.Of(batch.Interval), back: batch.Of(batch.Text), good: []string{"P1Y2M3DT4H5M6.7S", "-P1D"}},
		"timetz":              {t: batch.Of(batch.TimeTZ), back: batch.Of(batch.Text), good: []string{"13:05:00+05:30"}},
		"bit":                 {t: batch.Of(batch.Bit), back: batch.Of(batch.Text), good: []string{"0101"}},
		"enum":                {t: batch.Type{Kind: batch.Named, Name: "mood"}, back: batch.Of(batch.Text), good: []string{"happy"}},
	}
}

// Exactness: what the physical type holds comes back unchanged, and what it
// cannot hold is dirty with its reason, in every type.
func TestEveryTypeThereAndBack(t *testing.T) {
	for name, c := range typeCases() {
		t.Run(name, func(t *testing.T) {
			schema := &batch.Schema{Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, {Name: "v", Type: c.t}}}
			var rows, want []connectortest.Row
			add := func(v string, good bool) {
				row := connectortest.Row{fmt.Sprint(len(rows)), v}
				rows = append(rows, row)
				if good {
					want = append(want, row)
				}
			}
			add(connectortest.Null, true)
			for _, v := range c.good {
				add(v, true)
			}
			for v := range c.bad {
				add(v, false)
				add(c.good[0], true)
			}
			path := filepath.Join(t.TempDir(), "a.parquet")
			refused := write(t, storage.Local{}, SinkOptions{Path: path}, schema, batchesOf(schema, rows, len(rows))...)
			checkRefused(t, refused, c.bad)
			s := newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})
			checkRows(t, connectortest.ReadAll(t, s), want)
			back := c.back
			if back.Kind == batch.Untyped {
				back = c.t
			}
			got, err := s.Schema(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f := got.Fields[1]; !f.Type.Equal(back) || f.NotNull || !got.Fields[0].NotNull {
				t.Errorf("read as %v, want %v", f, back)
			}
		})
	}
}

func checkRefused(t *testing.T, refused []rejected, want map[string]string) {
	t.Helper()
	if len(refused) != len(want) {
		t.Errorf("%d records were refused, want %d: %v", len(refused), len(want), refused)
	}
	for _, r := range refused {
		part, ok := want[string(r.cells[1])]
		if !ok || !strings.Contains(r.reason, part) || r.column != "v" || r.reason == "" {
			t.Errorf("%q was refused in column %s: %s", r.cells[1], r.column, r.reason)
		}
	}
}

func checkRows(t *testing.T, got, want []connectortest.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("row %d is %.200s, want %.200s", i, got[i], want[i])
		}
	}
}

// A record of NULL in a column that has none is dirty, and its neighbours are
// not.
func TestNullWhereThereIsNoneIsDirty(t *testing.T) {
	schema := &batch.Schema{Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int64)}, {Name: "v", Type: batch.Of(batch.Text), NotNull: true}}}
	path := filepath.Join(t.TempDir(), "a.parquet")
	rows := []connectortest.Row{{"1", "a"}, {"2", connectortest.Null}, {"3", ""}}
	refused := write(t, storage.Local{}, SinkOptions{Path: path}, schema, batchesOf(schema, rows, 10)...)
	if len(refused) != 1 || refused[0].column != "v" || !strings.Contains(refused[0].reason, "NULL") {
		t.Errorf("refused were %v", refused)
	}
	checkRows(t, connectortest.ReadAll(t, newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})), []connectortest.Row{rows[0], rows[2]})
}

// mixedRows are records of columns whose encodings change on their way:
// dictionaries that pay, do no longer, or never do; sorted and random numbers;
// texts of all lengths; many NULLs and none.
func mixedRows(n int, seed uint64) (*batch.Schema, []connectortest.Row) {
	r := rand.New(rand.NewPCG(seed, 1))
	schema := &batch.Schema{Fields: []batch.Field{
		{Name: "sorted", Type: batch.Of(batch.Int64), NotNull: true},
		{Name: "random", Type: batch.Of(batch.Int32)},
		{Name: "few", Type: batch.Of(batch.Text)},
		{Name: "unique", Type: batch.Of(batch.Text)},
		{Name: "growing", Type: batch.Of(batch.Text)},
		{Name: "flag", Type: batch.Of(batch.Bool)},
		{Name: "price", Type: batch.Type{Kind: batch.Decimal, Precision: 15, Scale: 2}},
		{Name: "nothing", Type: batch.Of(batch.Date)},
	}}
	var rows []connectortest.Row
	for i := range n {
		row := connectortest.Row{
			fmt.Sprint(i * 3), fmt.Sprint(r.Int32()), fmt.Sprint("f", r.IntN(20)), fmt.Sprint(i, strings.Repeat("u", r.IntN(30))),
			fmt.Sprint("g", r.IntN(1+i)), fmt.Sprint(r.IntN(2) == 0), fmt.Sprintf("%d.%02d", r.IntN(100000), r.IntN(100)), connectortest.Null,
		}
		for c := 1; c < len(row); c++ {
			if r.IntN(10) == 0 {
				row[c] = connectortest.Null
			}
		}
		rows = append(rows, row)
	}
	return schema, rows
}

func TestAllCompressionsAndEncodings(t *testing.T) {
	schema, rows := mixedRows(20_000, 7)
	for _, compression := range []string{"zstd", "snappy", "gzip", "none"} {
		for _, group := range []int{1000, 15_000} {
			t.Run(fmt.Sprint(compression, group), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.parquet")
				o := SinkOptions{Path: path, Compression: compression, RowGroupRows: group}
				if refused := write(t, storage.Local{}, o, schema, batchesOf(schema, rows, 8192)...); len(refused) > 0 {
					t.Fatal(refused[0])
				}
				checkRows(t, connectortest.ReadAll(t, newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})), rows)
			})
		}
	}
}

// A batch with records that cannot be held is taken back and added again
// without them, whatever its columns' encodings have become meanwhile.
func TestDirtyRecordsAmongManyOthers(t *testing.T) {
	schema, rows := mixedRows(20_000, 9)
	var want []connectortest.Row
	for i, row := range rows {
		if i%997 == 0 {
			row[6] = "NaN"
			continue
		}
		want = append(want, row)
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	refused := write(t, storage.Local{}, SinkOptions{Path: path}, schema, batchesOf(schema, rows, 4096)...)
	if len(refused) != len(rows)-len(want) {
		t.Errorf("%d records were refused, want %d", len(refused), len(rows)-len(want))
	}
	checkRows(t, connectortest.ReadAll(t, newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})), want)
}

// Reading goes on at any row, in every row group.
func TestReadingGoesOnAtAnyRow(t *testing.T) {
	schema, rows := mixedRows(5000, 3)
	path := filepath.Join(t.TempDir(), "a.parquet")
	write(t, storage.Local{}, SinkOptions{Path: path, RowGroupRows: 1700}, schema, batchesOf(schema, rows, 850)...)
	s := newTestSource(t, storage.Local{}, SourceOptions{Path: []string{path}})
	o, err := s.open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.file.Close(); err != nil {
		t.Fatal(err)
	}
	at := 0
	for g := range o.footer.Groups {
		for row := int64(0); row <= o.footer.Groups[g].Rows; row += 317 {
			got := readFrom(t, s, o, position(g, row))
			checkRows(t, got, rows[at+int(row):])
		}
		at += int(o.footer.Groups[g].Rows)
	}
}
