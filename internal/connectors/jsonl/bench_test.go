package jsonl

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/leatdata/leat/batch"
)

// sample is lines of 16 columns of numbers, dates and texts.
func sample(rows int) ([]byte, *batch.Schema) {
	var text bytes.Buffer
	schema := &batch.Schema{}
	for i := range 16 {
		kind := []batch.Kind{batch.Int64, batch.Decimal, batch.Date, batch.Text}[i%4]
		schema.Fields = append(schema.Fields, batch.Field{Name: fmt.Sprintf("column_%d", i), Type: batch.Of(kind)})
	}
	for r := range rows {
		for i := range 16 {
			text.WriteByte(",{"[boolIndex(i == 0)])
			value := []string{fmt.Sprint(r * 7919), fmt.Sprintf("%d.%02d", r%1000, i), `"2024-01-31"`, `"carefully final \"deposits\" detect"`}[i%4]
			fmt.Fprintf(&text, `"column_%d":%s`, i, value)
		}
		text.WriteString("}\n")
	}
	return text.Bytes(), schema
}

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

func columnsOf(schema *batch.Schema) []column {
	var columns []column
	for _, f := range schema.Fields {
		columns = append(columns, column{name: f.Name})
	}
	return columns
}

func BenchmarkDecode(b *testing.B) {
	text, schema := sample(2000)
	data := make([]byte, len(text))
	d := newDecoder(columnsOf(schema), true)
	into := &batch.Batch{}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		copy(data, text) // strings are unescaped in place
		into.Reset(schema)
		if n, _, err := d.Decode(into, data, true, 1); n != len(data) || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkSurvey(b *testing.B) {
	text, _ := sample(2000)
	d := newSurvey()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if n, _, err := d.Decode(nil, text, true, 1); n != len(text) || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	text, schema := sample(2000)
	from := &batch.Batch{}
	from.Reset(schema)
	from.Buf = append(from.Buf, text...)
	if _, _, err := newDecoder(columnsOf(schema), true).Decode(from, from.Buf, true, 1); err != nil {
		b.Fatal(err)
	}
	from.Seal()
	e := newEncoder(schema)
	var dst []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = e.Encode(dst[:0], from, func(int, string, string) { b.Fatal("refused") })
	}
	if !bytes.Equal(dst, text) {
		b.Fatal("another text came out")
	}
}
