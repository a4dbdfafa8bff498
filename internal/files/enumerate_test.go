package files

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// plainLines is lineFormat without quotes, whose cutter is fast.
type plainLines struct{ lineFormat }

func (plainLines) NewCutter() Cutter { return plainCutter{} }

type plainCutter struct{}

func (plainCutter) Cut(p []byte, from int) int {
	at := max(0, from-1)
	if at >= len(p) {
		return -1
	}
	if i := bytes.IndexByte(p[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return -1
}

// Work can begin after the first 32 MiB. A process that goes on at a stored
// cursor cuts where the one before it would have.
func TestEnumerationBeginsWithASmallStep(t *testing.T) {
	const size, splitSize = 100 << 20, 4 << 20
	line := append(bytes.Repeat([]byte{'x'}, 999_999), '\n')
	text := append([]byte("id\n"), bytes.Repeat(line, size/len(line))...)
	name := filepath.Join(t.TempDir(), "a.txt")
	put(t, storage.Local{}, name, text)
	newSource := func() *Source {
		s, err := NewSource(SourceConfig{
			FS: storage.Local{}, Format: plainLines{lineFormat{header: true}}, Schema: lineFormat{header: true}.schemaOf,
			Options: SourceOptions{Path: []string{name}, SplitSize: splitSize},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	at, lines := int64(3), int64(2)
	var cursor connector.Cursor
	var splits []connector.Split
	for step := 0; ; step++ {
		e, err := newSource().Enumerate(t.Context(), cursor, connector.SplitID(len(splits)), connector.Want{})
		if err != nil {
			t.Fatal(err)
		}
		var bytes int64
		for _, s := range e.Splits {
			sp, err := parseSpec(s.Spec)
			if err != nil {
				t.Fatal(err)
			}
			// The first record end at or after the size, or what is left.
			end := min(3+(at-3+splitSize+999_999)/1_000_000*1_000_000, int64(len(text)))
			if int64(len(text))-at <= splitSize+splitSize/4 {
				end = int64(len(text))
			}
			if sp.Start != at || sp.End != end || sp.Line != lines {
				t.Fatalf("step %d, split %d: %d to %d from line %d, want %d to %d from line %d", step, s.ID, sp.Start, sp.End, sp.Line, at, end, lines)
			}
			bytes += sp.End - sp.Start
			lines += (sp.End - sp.Start) / 1_000_000
			at = sp.End
		}
		splits = append(splits, e.Splits...)
		if most := []int64{36 << 20, 40 << 20, 80 << 20}[step]; bytes > most || !e.Done && bytes < most-splitSize-8<<20 {
			t.Errorf("step %d goes through %d bytes", step, bytes)
		}
		if e.Done {
			break
		}
		cursor = e.Next
	}
	if at != int64(len(text)) {
		t.Errorf("the splits end at byte %d of %d", at, len(text))
	}
}

func TestStepsGrow(t *testing.T) {
	for before, want := range map[int64]int64{0: 32 << 20, 1 << 20: 32 << 20, 40 << 20: 40 << 20, 128 << 20: 128 << 20, 1 << 40: 256 << 20} {
		if got := stepBudget(before); got != want {
			t.Errorf("after %d bytes a step of %d, want %d", before, got, want)
		}
	}
}
