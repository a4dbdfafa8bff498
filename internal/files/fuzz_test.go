package files

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// FuzzPosition: whatever a stored split and position say, they are refused or
// mean a place within the split, and print back as they are.
func FuzzPosition(f *testing.F) {
	f.Add((&spec{Identity: Identity{Path: "a", Size: 100}, Start: 3, End: 90, Line: 2}).encode(), "10:4")
	f.Add((&spec{Identity: Identity{Path: "a.gz", Size: 100}, Text: true, Start: 3, Line: 2}).encode(), "1000:4")
	f.Add((&spec{Stdin: true, Line: 1}).encode(), "")
	f.Add(`{"start":-1}`, "-1:-1")
	f.Add(`{}`, "99999999999999999999:0")
	f.Fuzz(func(t *testing.T, text, pos string) {
		s, err := parseSpec(text)
		if err != nil {
			return
		}
		p, err := parsePosition(connector.Position(pos), s)
		if err != nil {
			return
		}
		if p.offset < s.Start || !s.Text && !s.Stdin && p.offset > s.End {
			t.Fatalf("position %q in %q is %+v", pos, text, p)
		}
		again, err := parsePosition(p.position(), s)
		if err != nil || again != p {
			t.Fatalf("%+v prints as %q and reads as %+v, %v", p, p.position(), again, err)
		}
	})
}

// FuzzSplits: splits of any size together read what one split reads.
func FuzzSplits(f *testing.F) {
	text, _ := numbered(30)
	f.Add([]byte(text), 10)
	f.Add([]byte("id|name\n1|'a\n'\n2|b"), 1)
	f.Add([]byte("\xef\xbb\xbfid\n\n\n1\xff\n"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if len(text) > 2000 || bytes.HasPrefix(text, []byte(bomUTF16LE)) || bytes.HasPrefix(text, []byte(bomUTF16BE)) {
			return
		}
		fsys := crashfs.New(1)
		put(t, fsys, "/a.txt", text)
		read := func(size int, want connector.Want) []string {
			s := newTestSource(t, fsys, lineFormat{header: true, rows: 3}, SourceOptions{
				Path: []string{"/a.txt"}, Compression: "none", SplitSize: option.Size(size),
			})
			rows := readAllRows(t, s, want)
			slices.Sort(rows) // those of a batch come before its dirty ones
			return rows
		}
		size = 1 + len(text)/32 + max(size, 0)%5000 // a few dozen splits at the most
		equalRows(t, read(size, connector.Want{}), read(1, connector.Want{Ordered: true}))
	})
}

// FuzzTranscode: text in another encoding is read as it is, or holds marks of
// the bytes that are none of it; no character is put in the place of another.
func FuzzTranscode(f *testing.F) {
	for _, name := range []string{"gbk", "gb18030", "utf-16le", "utf-16", "shift_jis", "latin1"} {
		f.Add([]byte("a\xd6\xd0\x84\x31\xa4\x37"), name)
	}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		enc, ok := encodings()[name]
		if !ok {
			return
		}
		r, err := transcode(bytes.NewReader(text), "a.txt", name)
		if err != nil {
			t.Fatal(err)
		}
		h := &head{r: r}
		if err := h.grow(t.Context(), 1<<30); err != nil {
			return
		}
		again, err := transcode(iotest.OneByteReader(bytes.NewReader(text)), "a.txt", name)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := io.ReadAll(again); err != nil || !bytes.Equal(same, h.data) {
			t.Fatalf("% x in %s became %q, and byte by byte %q, %v", text, name, h.data, same, err)
		}
		for i := bytes.IndexByte(h.data, markStart); i >= 0; i = bytes.IndexByte(h.data, markStart) {
			offset, bad, size := parseMark(h.data[i:])
			if size == 0 || !bytes.HasPrefix(text[offset:], bad) || len(bad) == 0 {
				t.Fatalf("% x in %s: the mark at %d says % x at %d", text, name, i, bad, offset)
			}
			h.data = slices.Delete(h.data, i, i+size)
		}
		if !utf8.Valid(h.data) {
			t.Fatalf("% x in %s became %q", text, name, h.data)
		}
		if !bytes.Contains(h.data, []byte("\uFFFD")) {
			return
		}
		if _, err := enc.NewEncoder().Bytes(h.data); err != nil {
			t.Fatalf("% x in %s became %q, which it cannot tell", text, name, h.data)
		}
	})
}
