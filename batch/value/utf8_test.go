package value_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// Of valid texts conversions make valid ones, but for Bytes: a batch's
// ValidUTF8 stays true by it.
func TestConversionsMakeUTF8OfUTF8(t *testing.T) {
	pieces := []string{"1", "-", ".5", "é", "中", "😀", "{", "}", ",", `"`, `\`, `\u00e9`, `\ud83d`, `\x`, "ff", "true", "T", "P1D", "2024-01-31", " 12:00:00", "+00", "NaN", "\x00", "[", ":", "0"}
	made := 0
	rapid.Check(t, func(rt *rapid.T) {
		cell := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(rt, "pieces"), ""))
		for _, from := range batch.Kinds() {
			for _, to := range batch.Kinds() {
				if to == batch.Bytes {
					continue
				}
				for _, convert := range []func(from, to batch.Type) (value.Converter, error){value.Convert, value.ConvertCast} {
					c, err := convert(typeOf(from), typeOf(to))
					if err != nil || c == nil {
						continue
					}
					if out, err := c(nil, cell); err == nil {
						made++
						if !utf8.Valid(out) {
							rt.Fatalf("%q from %s to %s is %q", cell, from, to, out)
						}
					}
				}
			}
		}
	})
	if made == 0 {
		t.Error("no text was converted")
	}
}

// typeOf is a type of a kind; arrays are of texts.
func typeOf(k batch.Kind) batch.Type {
	t := batch.Of(k)
	if k == batch.Array {
		text := batch.Of(batch.Text)
		t.Elem = &text
	}
	return t
}
