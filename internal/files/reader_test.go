package files

import (
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// A batch that was judged to be valid UTF-8 says so, for those who would
// judge it again.
func TestBatchesSayWhetherTheyAreValidUTF8(t *testing.T) {
	for _, c := range []struct {
		text, encoding string
		want           bool
	}{
		{"id|n\n1|é\n2|x\n", "", true},
		{"id|n\n1|\xc3\n2|x\n", "", false},
		{"id|n\n1|\xd6\n2|x\n", "gbk", false},
		{"id|n\n1|\xe9\n2|x\n", "latin1", true},
	} {
		name := filepath.Join(t.TempDir(), "a.txt")
		put(t, storage.Local{}, name, []byte(c.text))
		s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}, Encoding: c.encoding})
		r, err := s.Open(t.Context(), enumerate(t, s, connector.Want{})[0], "")
		if err != nil {
			t.Fatal(err)
		}
		b := &batch.Batch{}
		b.Reset(&batch.Schema{Fields: []batch.Field{{Name: "id"}, {Name: "n"}}})
		if err := r.Next(t.Context(), b); err != nil || b.ValidUTF8 != c.want {
			t.Errorf("%q in %q: valid %v, %v", c.text, c.encoding, b.ValidUTF8, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Bytes side by side may look like a character.
func TestMadeBytesAreNotTakenForText(t *testing.T) {
	texts := &batch.Schema{Fields: []batch.Field{{Name: "a", Type: batch.Of(batch.Text)}}}
	bytes := &batch.Schema{Fields: []batch.Field{{Name: "a", Type: batch.Of(batch.Bytes)}}}
	for _, c := range []struct {
		schema *batch.Schema
		extra  string
		want   bool
	}{{texts, "é", true}, {texts, "\xc3", false}, {bytes, "é", false}, {bytes, "", true}} {
		if got := validExtra(c.schema, []byte(c.extra)); got != c.want {
			t.Errorf("%q in %s: %v", c.extra, c.schema.Fields[0].Type, got)
		}
	}
}
