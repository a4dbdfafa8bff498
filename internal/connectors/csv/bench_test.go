package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/storage"
)

// benchSize is about how many bytes a benchmark's text has.
const benchSize = 16 << 20

// lineitem makes 16 columns such as TPC-H's lineitem has, without quotes.
func lineitem(r *rand.Rand, b *bytes.Buffer) int {
	modes := []string{"AIR", "MAIL", "RAIL", "SHIP", "TRUCK", "FOB", "REG AIR"}
	words := []string{"furiously", "even", "deposits", "sleep", "quickly", "ironic", "packages", "haggle"}
	date := func() string {
		return fmt.Sprintf("199%d-%02d-%02d", 2+r.IntN(7), 1+r.IntN(12), 1+r.IntN(28))
	}
	fmt.Fprintf(b, "%d,%d,%d,%d,%d.00,%d.%02d,0.%02d,0.%02d,%c,%c,%s,%s,%s,%s,%s,%s %s %s\n",
		r.IntN(12_000_000), r.IntN(200_000), r.IntN(10_000), 1+r.IntN(7), 1+r.IntN(50), 900+r.IntN(100_000), r.IntN(100),
		r.IntN(11), r.IntN(9), "NRA"[r.IntN(3)], "OF"[r.IntN(2)], date(), date(), date(), "DELIVER IN PERSON",
		modes[r.IntN(len(modes))], words[r.IntN(len(words))], words[r.IntN(len(words))], words[r.IntN(len(words))])
	return 16
}

// wide makes 13 columns with quotes, line ends, NULL and text beyond ASCII.
func wide(r *rand.Rand, b *bytes.Buffer) int {
	text := func(n int) string {
		parts := []string{"lorem ", "ipsum, ", "dolor\n", `""sit"" `, "Žluťoučký ", "中文 ", "amet "}
		var s bytes.Buffer
		for range n {
			s.WriteString(parts[r.IntN(len(parts))])
		}
		return s.String()
	}
	fmt.Fprintf(b, "%d,\"%s\",,\"%s\",%s,\"\",%f,%t,\"%s\",plain text of some words,%x,,\"%s\"\n",
		r.Int64(), text(8), text(20), "x y z", r.Float64(), r.IntN(2) == 0, text(3), r.Uint64(), text(12))
	return 13
}

// narrow makes an integer, a float and a timestamp.
func narrow(r *rand.Rand, b *bytes.Buffer) int {
	fmt.Fprintf(b, "%d,%.6f,2024-%02d-%02d %02d:%02d:%02d\n", r.IntN(10_000_000), r.Float64()*1000,
		1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
	return 3
}

type shape struct {
	name string
	make func(*rand.Rand, *bytes.Buffer) int
}

func shapes() []shape {
	return []shape{{"lineitem", lineitem}, {"wide", wide}, {"narrow", narrow}}
}

func textOf(s shape, size int) (text []byte, width int) {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < size {
		width = s.make(r, &b)
	}
	return b.Bytes(), width
}

func common() dialect { return dialect{delim: ',', quote: '"', quoting: true} }

// eachBatch decodes a text chunk by chunk into one batch, as a reader does.
func eachBatch(text []byte, dec *decoder, schema *batch.Schema, b *batch.Batch) int {
	rows := 0
	for at := 0; at < len(text); {
		b.Reset(schema)
		size := min(batch.MaxBytes, len(text)-at)
		b.Buf = append(b.Buf, text[at:at+size]...)
		n, _, err := dec.Decode(b, b.Buf, at+size == len(text), 1)
		if err != nil || n == 0 || len(b.Rejects) > 0 {
			panic(fmt.Sprint(n, err, b.Rejects))
		}
		b.Seal()
		rows += b.Rows
		at += n
	}
	return rows
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range shapes() {
		text, width := textOf(s, benchSize)
		b.Run(s.name+"/leat", func(b *testing.B) {
			dec, schema, bt := &decoder{dialect: common(), width: width}, schemaOf(width), &batch.Batch{}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			rows := 0
			report := reportCPU(b, len(text))
			for b.Loop() {
				rows = eachBatch(text, dec, schema, bt)
			}
			report()
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()*float64(b.N), "rows/s")
		})
		b.Run(s.name+"/encoding_csv", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			defer reportCPU(b, len(text))()
			for b.Loop() {
				r := stdcsv.NewReader(bytes.NewReader(text))
				r.ReuseRecord = true
				for {
					if _, err := r.Read(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkCut(b *testing.B) {
	for _, s := range shapes() {
		text, _ := textOf(s, benchSize)
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			defer reportCPU(b, len(text))()
			for b.Loop() {
				c := &cutter{dialect: common()}
				for at := 0; at < len(text); at += 256 << 10 {
					c.Cut(text[at:min(at+256<<10, len(text))], len(text))
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, s := range shapes() {
		text, width := textOf(s, benchSize)
		n, _, _ := (&decoder{dialect: common(), width: width}).Decode(&batch.Batch{Schema: schemaOf(width)}, bytes.Clone(text[:batch.MaxBytes]), false, 1)
		text = text[:n]
		b.Run(s.name, func(b *testing.B) {
			dec, schema, bt := &decoder{dialect: common(), width: width}, schemaOf(width), &batch.Batch{}
			eachBatch(text, dec, schema, bt)
			e := newEncoder(common(), false, schema)
			var out []byte
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			report := reportCPU(b, len(text))
			for b.Loop() {
				out = e.Encode(out[:0], bt, nil)
			}
			report()
			if s.name != "wide" && !bytes.Equal(out, text) {
				b.Fatal("the text did not come back")
			}
		})
	}
}

func BenchmarkInfer(b *testing.B) {
	text, _ := textOf(shapes()[0], benchSize)
	path := filepath.Join(b.TempDir(), "li.csv")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	var o SourceOptions
	if err := option.Parse(map[string]any{"path": path, "header": false}, &o); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	defer reportCPU(b, len(text))()
	for b.Loop() {
		s, err := NewSource(storage.Local{}, nil, &o, connector.SourceEnv{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Infer(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
