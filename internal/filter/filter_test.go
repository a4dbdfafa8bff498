package filter

import (
	"testing"

	"github.com/leatdata/leat/batch"
)

// cell is a column with one value for a test.
type cell struct {
	name string
	typ  string
	// text is nil for NULL.
	text any
}

func record(t testing.TB, cells []cell) (*batch.Schema, *batch.Batch) {
	t.Helper()
	return recordOf(t, cells)
}

// recordOf makes a batch of one record.
func recordOf(t interface{ Fatal(args ...any) }, cells []cell) (*batch.Schema, *batch.Batch) {
	s := &batch.Schema{}
	for _, c := range cells {
		typ := batch.Type{Kind: batch.Named, Name: c.typ}
		if c.typ != "mood" {
			var err error
			if typ, err = batch.ParseType(c.typ); err != nil {
				t.Fatal(err)
			}
		}
		s.Fields = append(s.Fields, batch.Field{Name: c.name, Type: typ})
	}
	b := &batch.Batch{}
	b.Reset(s)
	for _, c := range cells {
		if c.text == nil {
			b.AppendNull()
		} else {
			b.Append([]byte(c.text.(string)))
		}
	}
	b.Seal()
	return s, b
}

// outcome of an expression that is a condition: true, false, NULL or an error.
func outcome(t testing.TB, expression string, cells []cell) string {
	t.Helper()
	s, b := record(t, cells)
	f, err := Compile(expression, s)
	if err != nil {
		return "refused: " + err.Error()
	}
	v, err := f.pass(row{b: b})
	pass, matchErr := f.Match(b, 0)
	if (err == nil) != (matchErr == nil) {
		t.Fatalf("%s: %v, but Match %v", expression, err, matchErr)
	}
	switch {
	case matchErr != nil:
		return "dirty: " + matchErr.Error()
	case pass != (v.v && !v.null):
		t.Fatalf("%s: Match gives %v for %+v", expression, pass, v)
	case v.null:
		return "NULL"
	case v.v:
		return "true"
	}
	return "false"
}

func people() []cell {
	return []cell{
		{"qty", "int64", "5"},
		{"price", "decimal(10,2)", "10.50"},
		{"ratio", "float64", "0.1"},
		{"small", "float32", "0.1"},
		{"big", "uint64", "18446744073709551615"},
		{"name", "text", "Ann"},
		{"raw", "untyped", "7"},
		{"flag", "bool", "true"},
		{"day", "date", "2024-01-31"},
		{"at", "timestamp(6)", "2024-01-31 10:00:00.5"},
		{"moment", "instant(6)", "2024-01-31 10:00:00+00"},
		{"clock", "time", "10:30:00"},
		{"id", "uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
		{"doc", "json", `{"a": 1}`},
		{"blob", "bytes", "\x00\xffab"},
		{"wait", "interval", "P1D"},
		{"mood", "mood", "happy"},
		{"none", "int32", nil},
		{"no_text", "text", nil},
		{"no_flag", "bool", nil},
		{"empty", "text", ""},
		{"date", "date", "2024-02-01"},
		{"count", "int32", "3"},
		{"len", "int32", "4"},
		{"now", "timestamp", "2024-02-01 00:00:00"},
		{"in", "int8", "1"},
		{"nil", "int8", "2"},
		{"Weird name", "text", "x"},
		{"a.b", "int8", "9"},
	}
}

func TestExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		// whole numbers
		`qty == 5`:    "true",
		`qty != 5`:    "false",
		`qty < 5`:     "false",
		`qty <= 5`:    "true",
		`qty > 4`:     "true",
		`4 < qty < 6`: "true",
		`4 < qty < 5`: "false",
		`-qty == -5`:  "true",
		`+qty == 5`:   "true",
		`qty == 0x5`:  "true",
		`qty == 5.0`:  "true",
		`qty / 2 == 2.5 and qty % 3 == 2 and -qty % 3 == -2`: "true",
		`qty in [1, 5]`:     "true",
		`qty not in [1, 5]`: "false",
		`qty in []`:         "false",
		`qty in 1..5`:       "true",
		`qty in 6..10`:      "false",
		`abs(-qty) == 5 and floor(qty / 2) == 2 and ceil(qty / 2) == 3 and round(qty / 2) == 3`: "true",
		`round(-qty / 2) == -3 and floor(-qty / 2) == -3 and ceil(-qty / 2) == -2`:              "true",
		`big == 18446744073709551615`:                         "true",
		`big == 18446744073709551614`:                         "false",
		`big > 9_223_372_036_854_775_807`:                     "true",
		`big + 1 == 18446744073709551616 and big * big > 0`:   "true",
		`big - big == 0 and big % 10 == 5 and big / big == 1`: "true",
		`9223372036854775807 + 1 == 9223372036854775808 and -9223372036854775808 - 1 == -9223372036854775809`: "true",
		// decimals
		`price == 10.5`:  "true",
		`price == 10.50`: "true",
		`price == 10.500000000000000000000000001`: "false",
		`price < 10.500000000000000000000000001`:  "true",
		`price + 0.1 == 10.6`:                     "true",
		`price * 3 == 31.5 and price / 3 == 3.5`:  "true",
		`0.1 + 0.2 == 0.3`:                        "true",
		`price % 3 == 1.5`:                        "true",
		`1 / 3 * 3 == 1`:                          "true",
		`qty / 3 * 3 == qty`:                      "true",
		`price > qty`:                             "true",
		`int(price) == 10`:                        `dirty: has a fraction: say floor, ceil or round`,
		`int(floor(price)) == 10`:                 "true",
		`float(price) == 10.5`:                    "true",
		// floats
		`ratio == 0.1`:                            "true",
		`small == 0.1`:                            "true",
		`small in [0.1, 0.2]`:                     "true",
		`ratio * 2 == 0.2`:                        "true",
		`ratio < qty and qty > ratio`:             "true",
		`ratio + qty == 5.1`:                      "true",
		`decimal(ratio) == decimal("0.1")`:        "true",
		`decimal(small) == decimal("0.1")`:        "true",
		`ratio / 0 > 1`:                           "dirty: division by zero",
		`ratio % 0 > 1`:                           "dirty: division by zero",
		`1e300 * ratio > 1e298`:                   "true",
		`1e300 * (ratio * 1e300) > 1`:             "dirty: the number has grown too large",
		`abs(-ratio) == 0.1 and ceil(ratio) == 1`: "true",
		// texts
		`name == "Ann" and name == 'Ann' and name != "ann"`:                                "true",
		`name < "B" and name >= "Ann"`:                                                     "true",
		`name startsWith "A" and name endsWith "nn" and name contains "n"`:                 "true",
		`name not contains "x" and name not startsWith "n"`:                                "true",
		`name matches "^A.n$" and name not matches "x"`:                                    "true",
		`lower(name) == "ann" and upper(name) == "ANN" and trim(" " + name + " ") == name`: "true",
		`name | lower() == "ann"`:                                                          "true",
		`len(name) == 3 and len(empty) == 0 and len("Žlu") == 3`:                           "true",
		`empty == "" and empty != nil`:                                                     "true",
		`name in ["a", "b", "c", "d", "e", "f", "g", "Ann"]`:                               "true",
		`name in ["a", "b", "c", "d", "e", "f", "g", "h"]`:                                 "false",
		`raw == "7" and int(raw) == 7 and decimal(raw) > 6.9 and float(raw) == 7`:          "true",
		`doc == "{\"a\": 1}" and doc contains "a"`:                                         "true",
		`mood == "happy" and mood in ["sad", "happy"]`:                                     "true",
		`blob == b"\x00\xffab" and len(blob) == 4 and blob endsWith "ab" and blob != "ab"`: "true",
		`string(wait) == "P1D" and wait != nil and string(qty) == "5"`:                     "true",
		// truth
		`flag`:                                "true",
		`not flag`:                            "false",
		`!flag or flag == true`:               "true",
		`flag != false`:                       "true",
		`bool("yes")`:                         "true",
		`flag ? qty == 5 : qty == 6`:          "true",
		`if flag { false } else { true }`:     "false",
		`(flag ? "a" : name) == "a"`:          "true",
		`(no_flag ? 1 : 2) == 2`:              "true",
		`(flag ? day : at) == "2024-01-31"`:   "true",
		`(flag ? 1 : ratio) == 1`:             "true",
		`(flag ? id : nil) == id`:             "true",
		`qty == 5 // the rest is a remark`:    "true",
		`qty /* in the middle */ == 5`:        "true",
		`qty == 6 and 1 / (qty - 5) == 1`:     "false",
		`qty == 5 or 1 / (qty - 5) == 1`:      "true",
		`no_flag and 1 / (qty - 5) == 1`:      "dirty: division by zero",
		`(none ?? 7) == 7 and (qty ?? 7) < 6`: "true",
		`(none ?? nil) == nil`:                "true",
		// moments
		`day == "2024-01-31" and day < "2024-02-01"`:                                "true",
		`day == date("2024-01-31") and date("2024-01-31") == day`:                   "true",
		`day in ["2024-01-30", "2024-01-31"]`:                                       "true",
		`day < "2024-01-31 00:00:00.000001" and day == "2024-01-31 00:00:00"`:       "true",
		`at == "2024-01-31 10:00:00.500000" and at > "2024-01-31"`:                  "true",
		`at == timestamp("2024-01-31T10:00:00.5") and at > day and day < at`:        "true",
		`date(at) == day and timestamp(day) < at`:                                   "true",
		`moment == "2024-01-31 15:30:00+05:30" and moment < "2024-02-01T00:00Z"`:    "true",
		`moment == instant("2024-01-31 10:00:00Z")`:                                 "true",
		`clock == "10:30" and clock > time("10:29:59.999999")`:                      "true",
		`id == "F47AC10B-58CC-4372-A567-0E02B2C3D479" and id in [uuid(string(id))]`: "true",
		`id < "f47ac10b-58cc-4372-a567-0e02b2c3d480"`:                               "true",
		// names
		`date == "2024-02-01" and date(date) == date`:                                          "true",
		`count == 3 and len == 4 and now > "2024-01-31" and len(name) < len`:                   "true",
		`col("in") == 1 and $env.in == 1 and $env["in"] == 1`:                                  "true",
		`col("nil") == 2 and nil == nil and col("Weird name") == "x" and $env["a.b"] == 9`:     "true",
		`col("name") == name and string(col("Weird name")) == "x" and col('Weird name') > "w"`: "true",
	} {
		if got := outcome(t, expression, people()); got != want {
			t.Errorf("%s\n got %s\nwant %s", expression, got, want)
		}
	}
}
