package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// blockFormat costs next to nothing: a record is as many lines as there are.
type blockFormat struct{ lineFormat }

type blockDecoder struct{}

func (blockFormat) NewDecoder(*batch.Schema) Decoder { return blockDecoder{} }
func (blockFormat) NewEncoder(*batch.Schema) Encoder { return blockEncoder{} }
func (blockFormat) NewCutter() Cutter                { return blockCutter{} }

func (blockDecoder) Decode(b *batch.Batch, data []byte, final bool, _ int64) (int, int64, error) {
	n := bytes.LastIndexByte(data, '\n') + 1
	if n > 0 {
		b.Spans = append(b.Spans, batch.Span{Len: int32(n)})
	}
	return n, int64(bytes.Count(data[:n], []byte{'\n'})), nil
}

type blockEncoder struct{}

func (blockEncoder) Header(dst []byte) []byte { return dst }

func (blockEncoder) Encode(dst []byte, b *batch.Batch, _ func(int, string, string)) []byte {
	return append(dst, b.Columns[0].Cell(0)...)
}

type blockCutter struct{}

func (blockCutter) Cut(p []byte, from int) int {
	if from = max(0, from-1); from >= len(p) {
		return -1
	}
	if i := bytes.IndexByte(p[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return -1
}

func blockSource(b testing.TB, size int) (*Source, []connector.Split) {
	b.Helper()
	name := filepath.Join(b.TempDir(), "a.txt")
	line := strings.Repeat("x", 99) + "\n"
	if err := storage.WriteAtomic(storage.Local{}, name, bytes.Repeat([]byte(line), size/len(line))); err != nil {
		b.Fatal(err)
	}
	f := blockFormat{}
	s, err := NewSource(SourceConfig{FS: storage.Local{}, Format: f, Schema: f.schemaOf, Options: SourceOptions{Path: []string{name}}})
	if err != nil {
		b.Fatal(err)
	}
	e, err := s.Enumerate(b.Context(), "", 0, connector.Want{Ordered: true})
	if err != nil || !e.Done {
		b.Fatal(err)
	}
	return s, e.Splits
}

func readBlocks(ctx context.Context, s *Source, split connector.Split, each func(*batch.Batch) error) error {
	schema, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	r, err := s.Open(ctx, split, "")
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	var pool batch.Pool
	for {
		b := pool.Get(schema)
		if err := r.Next(ctx, b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(b); err != nil {
			return err
		}
	}
}

func BenchmarkRead(b *testing.B) {
	const size = 64 << 20
	s, splits := blockSource(b, size)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if err := readBlocks(b.Context(), s, splits[0], func(c *batch.Batch) error { c.Release(); return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEnumerate(b *testing.B) {
	const size = 256 << 20
	s, _ := blockSource(b, size)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Enumerate(b.Context(), "", 0, connector.Want{Parallelism: 2}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	const size = 64 << 20
	s, splits := blockSource(b, size)
	for _, c := range []Compression{Plain, Gzip, Zstd} {
		b.Run(string(c), func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if err := writeBlocks(b, s, splits[0], c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func writeBlocks(b testing.TB, s *Source, split connector.Split, c Compression) error {
	ctx := b.Context()
	snk, err := NewSink(SinkConfig{FS: storage.Local{}, Format: blockFormat{}, Options: SinkOptions{Path: filepath.Join(b.TempDir(), "out.txt"), Compression: string(c)}})
	if err != nil {
		return err
	}
	schema, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	if _, err := snk.Resolve(ctx, schema); err != nil {
		return err
	}
	run := connector.Run{ID: "r"}
	if err := snk.Prepare(ctx, run); err != nil {
		return err
	}
	w, state, err := snk.Claim(ctx, connector.Attempt{Run: run, Split: split, Token: 1})
	if err != nil {
		return err
	}
	if err := readBlocks(ctx, s, split, func(c *batch.Batch) error { return w.Write(ctx, c) }); err != nil {
		return err
	}
	state.Done = true
	if state, err = w.Commit(ctx, state); err != nil {
		return err
	}
	return errors.Join(w.Close(), snk.Finish(ctx, run, []connector.SplitState{state}), snk.Close())
}
