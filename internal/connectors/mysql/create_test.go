package mysql

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// A table that is made has for each type of ours one that keeps its values,
// and the plan's schema is what the table then is.
func TestCreatedTypes(t *testing.T) {
	t.Parallel()
	decimal := func(p, s int) batch.Type { return batch.Type{Kind: batch.Decimal, Precision: p, Scale: s} }
	element := batch.Of(batch.Int32)
	cases := []struct {
		in   batch.Type
		want string
		cell string
		// held is what the column then holds, cell when "".
		held string
	}{
		{batch.Of(batch.Untyped), "longtext", "x ", ""},
		{batch.Of(batch.Bool), "tinyint(1)", "true", "1"},
		{batch.Of(batch.Int8), "tinyint(4)", "-128", ""},
		{batch.Of(batch.Int16), "smallint(6)", "-32768", ""},
		{batch.Of(batch.Int32), "int(11)", "2147483647", ""},
		{batch.Of(batch.Int64), "bigint(20)", "-9223372036854775808", ""},
		{batch.Of(batch.Uint8), "tinyint(3) unsigned", "255", ""},
		{batch.Of(batch.Uint16), "smallint(5) unsigned", "65535", ""},
		{batch.Of(batch.Uint32), "int(10) unsigned", "4294967295", ""},
		{batch.Of(batch.Uint64), "bigint(20) unsigned", "18446744073709551615", ""},
		{batch.Of(batch.Float32), "float", "1.5", ""},
		{batch.Of(batch.Float64), "double", "0.1", ""},
		{decimal(15, 2), "decimal(15,2)", "-9999999999999.99", ""},
		{decimal(0, 0), "decimal(65,30)", "7.10", "7.10" + strings.Repeat("0", 28)},
		{decimal(5, -2), "decimal(7,0)", "12300", ""},
		{decimal(3, 5), "decimal(5,5)", "0.00123", ""},
		{decimal(66, 2), "longtext", strings.Repeat("9", 64) + ".99", ""},
		{batch.Type{Kind: batch.Text, Length: 40}, "varchar(40)", "a ", ""},
		{batch.Type{Kind: batch.Text, Length: 5, Fixed: true}, "varchar(5)", "a    ", ""},
		{batch.Type{Kind: batch.Text, Length: 20000}, "longtext", "x", ""},
		{batch.Of(batch.Bytes), "longblob", "a\x00", ""},
		{batch.Type{Kind: batch.Bytes, Length: 3, Fixed: true}, "binary(3)", "a\x00b", ""},
		{batch.Type{Kind: batch.Bytes, Length: 300}, "varbinary(300)", "a", ""},
		{batch.Of(batch.Date), "date", "2024-02-29", ""},
		{batch.Type{Kind: batch.Time, Fraction: 4}, "time(3)", "-838:59:59.123", ""},
		{batch.Of(batch.TimeTZ), "varchar(100)", "12:00:00+05:30", ""},
		{batch.Of(batch.Timestamp), "datetime(6)", "2024-02-29 12:00:00.123456", ""},
		{batch.Type{Kind: batch.Timestamp, Fraction: 1}, "datetime", "2024-02-29 12:00:00", ""},
		{batch.Of(batch.Interval), "varchar(100)", "P1Y2M", ""},
		{batch.Of(batch.UUID), "uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479", ""},
		{batch.Of(batch.JSON), "longtext", `{"b": 1.0}`, ""},
		{batch.Type{Kind: batch.Bit, Length: 8, Fixed: true}, "bit(8)", "01000001", "A"},
		{batch.Type{Kind: batch.Bit, Length: 70, Fixed: true}, "varchar(70)", strings.Repeat("01", 35), ""},
		{batch.Type{Kind: batch.Array, Elem: &element}, "longtext", "{1,NULL}", ""},
		{batch.Type{Kind: batch.Named, Name: "mood"}, "longtext", "glad", ""},
		{batch.Type{Kind: batch.Named, Name: "inet6"}, "inet6", "::1", ""},
		{batch.Type{Kind: batch.Int16, Name: "year"}, "year(4)", "1999", ""},
		{batch.Type{Kind: batch.Bytes, Name: "point"}, "point", "\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40", ""},
		{batch.Type{Kind: batch.Named, Name: "enum('a','B''')"}, "enum('a','B''')", "B'", ""},
	}
	fields := []batch.Field{{Name: "id", Type: batch.Of(batch.Int32), NotNull: true}}
	var row strings.Builder
	row.WriteString("1")
	for i, c := range cases {
		fields = append(fields, batch.Field{Name: fmt.Sprintf("c%d", i), Type: c.in})
		row.WriteString("|" + c.cell)
	}
	r := newRig(t, "", nil, fields...)
	plan := must(r.sink.Resolve(t.Context(), r.in))(t)
	if c := r.load(row.String()); c.Written != 1 {
		t.Fatalf("rejected %q", r.rejected)
	}
	for i, c := range cases {
		column := fmt.Sprintf("c%d", i)
		r.expect("SELECT column_type FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 't' AND column_name = '"+column+"'", c.want)
		held := c.held
		if held == "" {
			held = c.cell
		}
		r.expect("SELECT "+column+" FROM t", held)
	}
	// What was promised is what the sink then finds.
	again := must(r.newSink(nil).Resolve(t.Context(), r.in))(t)
	for i, f := range again.Schema.Fields {
		promised := plan.Schema.Fields[i].Type
		if promised.Kind != f.Type.Kind || promised.Length != f.Type.Length || promised.Precision != f.Type.Precision || promised.Scale != f.Type.Scale || promised.Fraction != f.Type.Fraction {
			t.Errorf("column %s of %s: promised %+v, made %+v", f.Name, fields[i].Type, promised, f.Type)
		}
	}
}

// The short way of dates takes no day that the calendar has not.
func TestPlainDates(t *testing.T) {
	t.Parallel()
	for year := range 3 {
		for month := range 14 {
			for day := range 33 {
				text := fmt.Appendf(nil, "20%02d-%02d-%02d", year, month, day)
				_, err := value.ParseDate(text)
				leap := month == 2 && day == 29
				if got := plainDate(text); got != (err == nil && !leap) {
					t.Errorf("%s: %t, and as a date %v", text, got, err)
				}
			}
		}
	}
}

// Only what is the declaration of labels and no more becomes a type.
func TestLabels(t *testing.T) {
	t.Parallel()
	for declaration, want := range map[string][]string{
		"enum('a')": {"a"}, "set('a','b''c')": {"a", "b'c"}, "enum('')": {""}, "enum('(',',')": {"(", ","},
		`enum('a\\b','x\ny','\0')`: {`a\b`, "x\ny", "\x00"},
		"enum()":                   nil, "enum('a'": nil, "enum('a') x": nil, "enum('a'), b int, c enum('d')": nil, "enum(a)": nil, "mood": nil,
		"enum('a',)": nil, `enum('\')`: nil, "": nil,
	} {
		if got := labelsOf(declaration); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s has the labels %q, want %q", declaration, got, want)
		}
	}
	r := newRig(t, `CREATE TABLE t (v ENUM('a\\b', 'it''s', 'x\ny', 't\tb', ',', ')'))`, nil, untyped("v")...)
	if c := r.load(`a\b`, "it's", "x\ny", "t\tb", ",", ")"); c.Written != 6 {
		t.Errorf("rejected %q", r.rejected)
	}
}

// What the source tells apart stays apart in the key of a table that is made.
func TestCreatedKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", nil, batch.Field{Name: "k", Type: batch.Of(batch.Text), NotNull: true}, batch.Field{Name: "l", Type: batch.Of(batch.Bytes)})
	r.in.Key = []string{"k", "l"}
	plan := must(r.sink.Resolve(t.Context(), r.in))(t)
	if !slices.ContainsFunc(plan.Doubts, func(d string) bool { return strings.Contains(d, "longer value is dirty") }) {
		t.Errorf("doubts: %q", plan.Doubts)
	}
	c := r.load("a|x", "A|x", "a |x", "a|X", "a|x ", "ä|x", "a\u0308|x", "a|x", strings.Repeat("k", 384)+"|x")
	if c.Written != 7 || c.Dirty != 2 {
		t.Errorf("counters: %+v, rejected %q", c, r.rejected)
	}
}

// Two columns that the server holds for one, and rows wider than a page, are
// found out before anything is made.
func TestCreatedNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", nil, field("a", batch.Text), field("A", batch.Text))
	_, err := r.sink.Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "does not look at case")
	wide := make([]batch.Field, 100)
	for i := range wide {
		wide[i] = batch.Field{Name: fmt.Sprintf("c%d", i), Type: batch.Type{Kind: batch.Text, Length: 1000}}
	}
	r = newRig(t, "", nil, wide...)
	if c := r.load(strings.Repeat("x|", 99) + "y"); c.Written != 1 {
		t.Errorf("rejected %q", r.rejected)
	}
}

// Contradictions of options are found before anything connects.
func TestSinkOptions(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		"key":           "key is for mode upsert",
		"nulls":         "nulls is for mode upsert",
		"table":         "at most a database",
		"runs_table":    "a name is empty",
		"mode":          "append",
		"no such thing": "no such thing",
	} {
		values := map[string]any{"url": "mysql://root@127.0.0.1/x", "table": "t"}
		values[options] = map[string]any{"key": "a", "nulls": "keep", "table": "a.b.c", "runs_table": ".", "mode": "x"}[options]
		if values[options] == nil {
			values[options] = "x"
		}
		err := option.Parse(values, new(SinkOptions))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}
