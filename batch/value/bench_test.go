package value_test

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name, text string
		parse      func([]byte) error
	}{
		{"int64", "1234567", func(c []byte) error { _, err := value.ParseInt(c, 64); return err }},
		{"float64", "31.95376472", func(c []byte) error { _, err := value.ParseFloat(c, 64); return err }},
		{"decimal", "33078.94", func(c []byte) error { _, err := value.SplitDecimal(c); return err }},
		{"date", "1996-03-13", func(c []byte) error { _, err := value.ParseDate(c); return err }},
		{"timestamp", "2024-01-31 13:05:00.123456", func(c []byte) error { _, err := value.ParseTimestamp(c); return err }},
		{"instant", "2024-01-31 13:05:00+00", func(c []byte) error { _, err := value.ParseInstant(c); return err }},
		{"interval", "P1Y2M3DT4H5M6.7S", func(c []byte) error { _, err := value.ParseInterval(c); return err }},
		{"uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479", func(c []byte) error { _, err := value.ParseUUID(c); return err }},
		{"bool", "true", func(c []byte) error { _, err := value.ParseBool(c); return err }},
		{"array", "{1,2,3,NULL}", func(c []byte) error { _, err := value.ArrayShape(c); return err }},
	} {
		cell := []byte(c.text)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(cell)))
			for b.Loop() {
				if err := c.parse(cell); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	dst := make([]byte, 0, 64)
	id := [16]byte{1, 2, 3}
	d, err := value.SplitDecimal([]byte("33078.94"))
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(){
		"int64":     func() { dst = value.AppendInt(dst[:0], 1234567) },
		"float64":   func() { dst = value.AppendFloat(dst[:0], 31.95376472, 64) },
		"decimal":   func() { dst = value.AppendDecimal(dst[:0], &d) },
		"date":      func() { dst = value.AppendDate(dst[:0], 8796) },
		"timestamp": func() { dst = value.AppendTimestamp(dst[:0], 760_000_000_123_456) },
		"uuid":      func() { dst = value.AppendUUID(dst[:0], id) },
		"interval":  func() { dst = value.AppendInterval(dst[:0], value.Interval{Months: 14, Micros: 12345678}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkCanonical(b *testing.B) {
	for kind, text := range samples() {
		canonical, err := value.Canonical(batch.Of(kind))
		if err != nil {
			b.Fatal(err)
		}
		cell, dst := []byte(text), make([]byte, 0, 256)
		b.Run(kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(cell)))
			for b.Loop() {
				if _, err := canonical(dst, cell); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInference(b *testing.B) {
	for _, text := range []string{"42", "7.10", "31.95376472", "0.30000000000000004", "2024-01-31", "words"} {
		var n value.Inference
		cell := []byte(text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n.Add(cell)
			}
		})
	}
}
