package value_test

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// samples has a canonical cell for each kind.
func samples() map[batch.Kind]string {
	return map[batch.Kind]string{
		batch.Untyped: "x", batch.Bool: "true", batch.Int8: "-7", batch.Int16: "1234", batch.Int32: "-123456",
		batch.Int64: "1234567890123", batch.Uint8: "1", batch.Uint16: "1", batch.Uint32: "1", batch.Uint64: "18446744073709551615",
		batch.Float32: "1.5", batch.Float64: "31.953125", batch.Decimal: "12345.00", batch.Text: "Žluťoučký kůň",
		batch.Bytes: "\x00\xff", batch.Date: "2024-01-31", batch.Time: "13:05:00.123456", batch.TimeTZ: "13:05:00+00:00",
		batch.Timestamp: "2024-01-31 00:00:00", batch.Instant: "2024-01-31 00:00:00+00", batch.Interval: "PT1H30M",
		batch.UUID: "f47ac10b-58cc-4372-a567-0e02b2c3d479", batch.JSON: `{"a": [1, null, "x"]}`, batch.Bit: "1",
		batch.Array: `{1,NULL,"a \"b"}`, batch.Named: "x",
	}
}

// No parser, formatter or conversion allocates for a cell that is right.
func TestAllocNothingPerCell(t *testing.T) {
	cells := samples()
	dst := make([]byte, 0, 1024)
	measure := func(name string, f value.Converter, cell []byte) {
		if _, err := f(dst, cell); err != nil {
			return // a value that the other kind lacks
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = f(dst, cell) }); n > 0 {
			t.Errorf("%s of %q allocates %g times", name, cell, n)
		}
	}
	for from, text := range cells {
		canonical, err := value.Canonical(batch.Of(from))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := canonical(nil, []byte(text)); err != nil {
			t.Errorf("%s %q: %v", from, text, err)
		}
		measure("canonical "+from.String(), canonical, []byte(text))
		for to := range cells {
			for _, convert := range []func(from, to batch.Type) (value.Converter, error){value.Convert, value.ConvertCast} {
				if f, err := convert(batch.Of(from), batch.Of(to)); err == nil && f != nil {
					measure(from.String()+" to "+to.String(), f, []byte(text))
				}
			}
		}
	}
}

func TestAllocNothingPerError(t *testing.T) {
	for name, f := range map[string]func() error{
		"int":       func() error { _, err := value.ParseInt([]byte("99999999999"), 32); return err },
		"decimal":   func() error { _, err := value.SplitDecimal([]byte("1.2.3")); return err },
		"date":      func() error { _, err := value.ParseDate([]byte("2023-02-30")); return err },
		"timestamp": func() error { _, err := value.ParseTimestamp([]byte("2024-01-31 13")); return err },
		"uuid":      func() error { _, err := value.ParseUUID([]byte("f47ac10b")); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
		if n := testing.AllocsPerRun(100, func() { _ = f() }); n > 0 {
			t.Errorf("an error of %s allocates %g times", name, n)
		}
	}
}

func TestAllocNothingPerInferredCell(t *testing.T) {
	for _, text := range []string{"42", "7.10", "31.95376472", "2024-01-31", "2024-01-31 13:05:00", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "words"} {
		var n value.Inference
		cell := []byte(text)
		n.Add(cell)
		if allocs := testing.AllocsPerRun(100, func() { n.Add(cell) }); allocs > 0 {
			t.Errorf("inferring from %q allocates %g times", text, allocs)
		}
	}
}
