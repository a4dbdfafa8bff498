package filter

import (
	"testing"

	"github.com/leatdata/leat/batch"
)

// thousand is a batch of 1,000 records of a test's record.
func thousand(t testing.TB, cells []cell) (*batch.Schema, *batch.Batch) {
	s, one := record(t, cells)
	b := &batch.Batch{}
	b.Reset(s)
	for range 1000 {
		for i := range one.Columns {
			b.Append(one.Columns[i].Cell(0))
		}
	}
	b.Seal()
	return s, b
}

// usual are filters such as people write.
func usual() map[string]string {
	return map[string]string{
		"integer": `qty > 4`,
		"decimal": `price * 2 >= 21.00 and price < 1000000000000`,
		"float":   `ratio < 0.5`,
		"text":    `name == "Ann" and name startsWith "A"`,
		"list":    `name in ["a", "b", "c", "d", "e", "f", "g", "Ann"]`,
		"date":    `day >= "2024-01-01" and day < "2025-01-01"`,
		"moment":  `at >= "2024-01-01"`,
		"uuid":    `id == "f47ac10b-58cc-4372-a567-0e02b2c3d479"`,
		"null":    `none == nil or none > 5`,
		"regexp":  `name matches "^A.n$"`,
		"mixed":   `(qty in [1, 5] or none > 3) and price / 2 < 10 and len(name) == 3`,
	}
}

func matchAll(t testing.TB, f *Filter, b *batch.Batch) {
	for i := range b.Rows {
		if pass, err := f.Match(b, i); !pass || err != nil {
			t.Fatal(pass, err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	s, records := thousand(b, people())
	for name, expression := range usual() {
		b.Run(name, func(b *testing.B) {
			f, err := Compile(expression, s)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				matchAll(b, f, records)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records.Rows), "ns/record")
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	s, _ := record(b, people())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(usual()["mixed"], s); err != nil {
			b.Fatal(err)
		}
	}
}
