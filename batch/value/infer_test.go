package value_test

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch/value"
)

func TestInference(t *testing.T) {
	for _, c := range []struct{ cells, want string }{
		{"", "text"},
		{"∅ ∅", "text"},
		{"true ∅ false", "bool"},
		{"true 1", "text"},
		{"True false", "text"},
		{"t f", "text"},
		{"0 1", "int64"},
		{"1 ∅ -42 9223372036854775807", "int64"},
		{"2147483648", "int64"},
		{"007", "text"},
		{"+1", "text"},
		{"-0", "float64"},
		{"-0 1", "float64"},
		{"-0.0", "text"},
		{"1 9223372036854775808", "decimal(19,0)"},
		{"18446744073709551615", "decimal(20,0)"},
		{"7.10 12.00", "decimal(4,2)"},
		{"-7.10", "decimal(3,2)"},
		{"0.05", "decimal(3,2)"},
		{"7.1 12.00", "text"},
		{"38.9 31.95376472 30.68586111", "float64"},
		{"38 38.5", "float64"},
		{"38.50 38", "text"},
		{"0.1 0.30000000000000004", "float64"},
		{"0.1 0.300000000000000044", "text"},
		{"0.3000000000000000444 1.1000000000000000888", "decimal(20,19)"},
		{"1e+20 5", "float64"},
		{"1e20 5", "text"},
		{"0E0", "text"},
		{"00M 00R", "text"},
		{".5", "text"},
		{"5.", "text"},
		{"1.5 NaN", "float64"},
		{"NaN", "text"},
		{"Infinity", "text"},
		{"100000000000000000000000000000000000000", "text"},
		{"10000000000000000000000000000000000000", "decimal(38,0)"},
		{"0.0 0.5", "decimal(2,1)"},
		{"1,000", "text"},
		{"2024-01-31 ∅ 1969-07-20", "date"},
		{"2024-02-30", "text"},
		{"2024-1-31", "text"},
		{"2024/01/31", "text"},
		{"2024-01-31 2024-01-31T00:00:00", "text"},
		{"0044-03-15_BC", "text"},
		{"0000-00-00", "text"},
		{"infinity", "text"},
		{"2024-01-31_13:05:00 2024-01-31_13:05:00.5", "timestamp"},
		{"2024-01-31_13:05:00.50", "text"},
		{"2024-01-31T13:05:00", "text"},
		{"2024-01-31_13:05:00.123456789", "text"},
		{"2024-01-31_13:05:00+00", "instant"},
		{"2024-01-31_13:05:00+01", "text"},
		{"2024-01-31_13:05:00Z", "text"},
		{"2024-01-31_13:05:00 2024-01-31_13:05:00+00", "text"},
		{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "uuid"},
		{"12345678-1234-1234-1234-123456789012 f47ac10b-58cc-4372-a567-0e02b2c3d479", "uuid"},
		{"F47AC10B-58CC-4372-A567-0E02B2C3D479", "text"},
		{"f47ac10b58cc4372a5670e02b2c3d479", "text"},
		{"1 ε", "text"}, // an empty text is none of the others
		{"ε", "text"},
		{"1_", "text"},
	} {
		var all value.Inference
		var parts []value.Inference
		for word := range strings.FieldsSeq(c.cells) {
			var cell []byte
			switch word {
			case "∅":
			case "ε":
				cell = []byte{}
			default:
				cell = []byte(strings.ReplaceAll(word, "_", " "))
			}
			all.Add(cell)
			parts = append(parts, value.Inference{})
			parts[len(parts)-1].Add(cell)
		}
		if got := all.Type().String(); got != c.want {
			t.Errorf("%q is inferred as %s, want %s", c.cells, got, c.want)
		}
		// However the column is cut, the parts together say the same.
		var merged value.Inference
		for i := range parts {
			merged.Merge(&parts[len(parts)-1-i])
		}
		if got := merged.Type().String(); got != c.want {
			t.Errorf("%q is inferred as %s from parts, want %s", c.cells, got, c.want)
		}
	}
}

func TestInferenceOfAirports(t *testing.T) {
	f, err := os.Open("../../examples/data/airports.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := make([]value.Inference, len(rows[0]))
	for _, row := range rows[1:] {
		for i, cell := range row {
			columns[i].Add([]byte(cell))
		}
	}
	want := []string{"text", "text", "text", "text", "text", "float64", "float64"}
	for i := range columns {
		if got := columns[i].Type().String(); got != want[i] {
			t.Errorf("%s is inferred as %s, want %s", rows[0][i], got, want[i])
		}
	}
}

func TestInferenceKnowsWhenOnlyTextIsLeft(t *testing.T) {
	for _, c := range []struct {
		cells []string
		want  bool
	}{
		{nil, false},
		{[]string{"1", "999999999999999999", "-999999999999999999"}, false},
		{[]string{"9223372036854775808"}, false}, // a decimal
		{[]string{"true"}, false},
		{[]string{"true", "1"}, true},
		{[]string{"", "1"}, true},
		{[]string{"2024-01-31", "2024-02-30"}, true},
	} {
		var n value.Inference
		for _, cell := range c.cells {
			n.Add([]byte(cell))
		}
		if n.IsText() != c.want {
			t.Errorf("%q: only text is left: %v", c.cells, n.IsText())
		}
	}
}
