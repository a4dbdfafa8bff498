package jsonl

import (
	"testing"

	"github.com/leatdata/leat/batch"
)

// Reading, looking for keys and writing allocate nothing per record.
func TestAllocNothingPerRecord(t *testing.T) {
	const rows = 2000
	text, schema := sample(rows)
	d := newDecoder(columnsOf(schema), true)
	b := &batch.Batch{}
	decode := func() {
		b.Reset(schema)
		b.Buf = append(b.Buf, text...)
		if n, _, err := d.Decode(b, b.Buf, true, 1); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		b.Seal()
	}
	e := newEncoder(schema)
	var dst []byte
	s := newSurvey()
	for what, f := range map[string]func(){
		"decoding": decode,
		"encoding": func() { dst = e.Encode(dst[:0], b, func(int, string, string) { t.Fatal("refused") }) },
		"looking for keys": func() {
			if _, _, err := s.Decode(nil, text, true, 1); err != nil {
				t.Fatal(err)
			}
		},
	} {
		decode()
		f()
		if n := testing.AllocsPerRun(5, f); n > rows/1000 {
			t.Errorf("%s %d records allocates %g times", what, rows, n)
		}
	}
}
