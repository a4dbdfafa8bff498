package files

import (
	"bytes"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

func TestStandardOutput(t *testing.T) {
	for _, rows := range []int{0, 100} {
		for _, c := range []Compression{Plain, Gzip, Zstd} {
			text, _ := numbered(rows)
			var out bytes.Buffer
			f := lineFormat{header: true, rows: 7}
			fsys := crashfs.New(1)
			put(t, fsys, "/in.txt", []byte(text))
			s, err := NewSink(SinkConfig{FS: fsys, Format: f, Options: SinkOptions{Path: "-", Compression: string(c)}, Stdout: &out})
			if err != nil {
				t.Fatal(err)
			}
			src := newTestSource(t, fsys, f, SourceOptions{Path: []string{"/in.txt"}, SplitSize: 500})
			schema, err := src.Schema(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			plan, err := s.Resolve(t.Context(), schema)
			if err != nil || plan.Guarantee != connector.AtLeastOnce || plan.MaxWriters != 1 || len(plan.Doubts) == 0 {
				t.Fatalf("plan %+v, %v", plan, err)
			}
			j := newJob("/in.txt", "-")
			if err := j.enumerate(t.Context(), src, connector.Want{}); err != nil {
				t.Fatal(err)
			}
			for _, split := range j.splits {
				if err := j.copySplit(t.Context(), src, s, split, 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Finish(t.Context(), j.run, nil); err != nil {
				t.Fatal(err)
			}
			put(t, fsys, "/got", out.Bytes())
			if got := unpack(t, fsys, "/got", c); got != text {
				t.Errorf("%s: %q", c, got)
			}
		}
	}
}
