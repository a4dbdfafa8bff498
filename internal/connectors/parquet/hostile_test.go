package parquet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// readBytes reads a file of some content.
func readBytes(t testing.TB, content []byte) ([]connectortest.Row, error) {
	t.Helper()
	fsys := crashfs.New(1)
	f, err := fsys.OpenFile("/a.parquet", os.O_CREATE|os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(fsys, &SourceOptions{Path: []string{"/a.parquet"}}, connector.SourceEnv{})
	if err != nil {
		return nil, err
	}
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{Ordered: true})
	if err != nil {
		return nil, err
	}
	var rows []connectortest.Row
	for _, split := range e.Splits {
		more, err := readSplit(t.Context(), s, split, "")
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func smallFile(t testing.TB) ([]byte, []connectortest.Row) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.parquet")
	schema, rows := mixedRows(20, 5)
	write(t, storage.Local{}, SinkOptions{Path: path, RowGroupRows: 12}, schema, batchesOf(schema, rows, 12)...)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content, rows
}

// Whatever is wrong with a file, the error names it, and where there is one the
// way out; the same file, broken after its splits were made, too.
func TestErrorsNameTheFile(t *testing.T) {
	good, _ := smallFile(t)
	other := filepath.Join(t.TempDir(), "other.parquet")
	schema := &batch.Schema{Fields: []batch.Field{{Name: "x", Type: batch.Of(batch.Int32)}}}
	write(t, storage.Local{}, SinkOptions{Path: other}, schema, batchesOf(schema, []connectortest.Row{{"1"}}, 1)...)
	differs, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		words   []string
	}{
		"short":      {[]byte("PAR1"), []string{"too short"}},
		"text":       {[]byte("id,name\n1,a\n2,b\n"), []string{"not a Parquet file"}},
		"gzip":       {append([]byte{0x1f, 0x8b, 8, 0}, make([]byte, 50)...), []string{"compressed as a whole (gzip)", "unpack"}},
		"footer":     {append(slices.Clone(good[:len(good)-12]), "\xff\xff\xff\xff\xff\xff\xff\x7fPAR1"...), []string{"metadata"}},
		"other":      {differs, []string{"other columns than the first file", "by a job of their own"}},
		"one broken": {append(append([]byte("PAR1"), make([]byte, 40)...), good[44:]...), nil},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := crashfs.New(1)
			place(t, fsys, "/in/a.parquet", good)
			place(t, fsys, "/in/b.parquet", c.content)
			s := newTestSource(t, fsys, SourceOptions{Path: []string{"/in"}})
			e, err := s.Enumerate(t.Context(), "", 0, connector.Want{Parallelism: 1})
			for _, split := range e.Splits {
				if err == nil {
					_, err = readSplit(t.Context(), s, split, "")
				}
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range append(c.words, "/in/b.parquet") {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

func place(t testing.TB, fsys storage.FS, path string, content []byte) {
	t.Helper()
	if err := storage.MakeDir(fsys, filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenFile(path, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Parquet is compressed inside: a name that says else is refused for a target,
// and a folder's error names no such files.
func TestNoFileCompressedAsAWhole(t *testing.T) {
	for _, name := range []string{"x.parquet.gz", "x.parquet.zst", "out/x.gz"} {
		o := SinkOptions{Path: name}.withDefaults()
		_, err := NewSink(crashfs.New(1), &o, connector.SinkEnv{})
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "compression") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	fsys := crashfs.New(1)
	place(t, fsys, "/in/a.csv", []byte("a\n"))
	s := newTestSource(t, fsys, SourceOptions{Path: []string{"/in"}})
	if _, err := s.Schema(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "ends in .parquet") {
		t.Errorf("a folder without Parquet files: %v", err)
	}
}

// Exactness rule 12: a file that is cut off anywhere is an error, and so is one
// of which a page has changed.
func TestRule12CutAndBrokenFilesAreErrors(t *testing.T) {
	content, rows := smallFile(t)
	got, err := readBytes(t, content)
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, got, rows)
	for cut := range content {
		if _, err := readBytes(t, content[:cut]); err == nil {
			t.Fatalf("the first %d of %d bytes were read", cut, len(content))
		}
	}
	for at := range content {
		broken := slices.Clone(content)
		broken[at] ^= 0x10
		got, err := readBytes(t, broken)
		if err == nil && at > 4 && len(got) != len(rows) {
			t.Fatalf("byte %d broken: %d rows, want %d", at, len(got), len(rows))
		}
		if i := firstDifference(got, rows); err == nil && i >= 0 && at < dataEndOf(content) {
			t.Fatalf("byte %d broken, which is a page's: row %d is %s, want %s", at, i, got[i], rows[i])
		}
	}
}

func firstDifference(got, want []connectortest.Row) int {
	for i := range min(len(got), len(want)) {
		if !slices.Equal(got[i], want[i]) {
			return i
		}
	}
	return -1
}

// Whatever stands in a file, reading it ends, and does not panic.
func FuzzFile(f *testing.F) {
	content, _ := smallFile(f)
	f.Add(content)
	for _, name := range []string{"nested", "nested-v2", "int96", "empty", "duckdb"} {
		content, err := os.ReadFile(filepath.Join("testdata", name+".parquet"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) { _, _ = readBytes(t, content) })
}

func FuzzPosition(f *testing.F) {
	content, _ := smallFile(f)
	path := filepath.Join(f.TempDir(), "a.parquet")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		f.Fatal(err)
	}
	s := newTestSource(f, storage.Local{}, SourceOptions{Path: []string{path}})
	e, err := s.Enumerate(f.Context(), "", 0, connector.Want{Ordered: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(e.Splits[0].Spec, "1:3")
	f.Add(e.Splits[0].Spec, "2:0")
	f.Fuzz(func(t *testing.T, spec, pos string) {
		r, err := s.Open(t.Context(), connector.Split{Spec: spec}, connector.Position(pos))
		if err != nil {
			return
		}
		defer func() { _ = r.Close() }()
		schema, _ := s.Schema(t.Context())
		var b batch.Batch
		b.Reset(schema)
		if r.Next(t.Context(), &b) == nil && b.Rows == 0 {
			t.Error("a batch without rows")
		}
	})
}

func FuzzPacks(f *testing.F) {
	content, _ := smallFile(f)
	schema, _ := mixedRows(1, 1)
	end := dataEndOf(content)
	f.Add(content[4:end])
	f.Fuzz(func(t *testing.T, content []byte) {
		_, _ = readPacks(strings.NewReader(string(content)), connector.Segment{Length: int64(len(content))}, tagOf(schema))
	})
}

// dataEndOf is where the footer begins, in which names and types stand.
func dataEndOf(content []byte) int {
	return strings.LastIndex(string(content), packMark) + len(packMark)
}
