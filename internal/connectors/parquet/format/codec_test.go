package format

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestCodecsThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	pages := [][]byte{{}, {1}, noise, bytes.Repeat([]byte("parquet "), 100_000), make([]byte, 8<<20)}
	var dec Decompressor
	defer dec.Close()
	for _, codec := range []Codec{Uncompressed, Snappy, Gzip, Zstd} {
		c := NewCompressor(codec)
		for _, page := range pages {
			stored, err := c.Compress([]byte("before"), page)
			if err != nil {
				t.Fatal(err)
			}
			stored = stored[len("before"):]
			got, err := dec.Decompress(codec, nil, stored, len(page))
			if err != nil || !bytes.Equal(got, page) {
				t.Errorf("%s: %d bytes became %d, %v", codec, len(page), len(got), err)
			}
			for _, size := range []int{len(page) + 1, len(page) - 1, 500 << 20} {
				if size < 0 {
					continue
				}
				if _, err := dec.Decompress(codec, nil, stored, size); err == nil {
					t.Errorf("%s: a page of %d bytes was taken for one of %d", codec, len(page), size)
				}
			}
			if len(stored) > 1 {
				if _, err := dec.Decompress(codec, nil, stored[:len(stored)-1], len(page)); err == nil {
					t.Errorf("%s: a page of %d bytes was read from a part of it", codec, len(page))
				}
			}
		}
	}
}

// A size that a page claims makes no more room than its compressed bytes could
// fill.
func TestAllocPagesAreNotBelieved(t *testing.T) {
	var dec Decompressor
	defer dec.Close()
	for _, codec := range []Codec{Snappy, Gzip, Zstd} {
		stored, err := NewCompressor(codec).Compress(nil, []byte("a small page"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = dec.Decompress(codec, nil, stored, 1000) // what it keeps is made here
		result := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				if _, err := dec.Decompress(codec, nil, stored, 900<<20); err == nil {
					b.Fatal("the page was taken")
				}
			}
		})
		if got := result.AllocedBytesPerOp(); got > 4<<20 {
			t.Errorf("%s: %d bytes for a page that claims to be large", codec, got)
		}
	}
}
