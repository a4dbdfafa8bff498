package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// The short way of numbers gives what the long one gives.
func TestPlainNumbers(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	texts := []string{"0", "-0", "0.00", "7.10", "10000", "-10000.0000", "0.0001", "00012.5", "9999999999999999", "0.000000000000001", "100000000", "1.", "123.4500"}
	for range 20000 {
		digits := fmt.Sprint(random.Uint64N(1e16))
		digits = digits[:1+random.IntN(len(digits))]
		at := random.IntN(len(digits) + 1)
		text := digits[:at]
		if at == 0 {
			text = "0"
		}
		if at < len(digits) {
			text += "." + digits[at:]
		}
		if random.IntN(2) == 0 {
			text = "-" + text
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		if f, ok := plainFloat([]byte(text)); ok {
			want := must(value.ParseFloat([]byte(text), 64))(t)
			if math.Float64bits(f) != math.Float64bits(want) {
				t.Fatalf("%s: %v, want %v", text, f, want)
			}
		}
		e := &encoder{}
		short, ok := e.appendPlain(nil, []byte(text))
		if !ok {
			if len(text) < 17 && text != "1." {
				t.Fatalf("%s is left to the long way", text)
			}
			continue
		}
		d, err := value.SplitDecimal([]byte(text))
		check(t, err)
		long := must(appendDigits(nil, &d))(t)
		if !bytes.Equal(short, long) {
			t.Fatalf("%s: %x, want %x", text, short, long)
		}
	}
}

func TestPlainText(t *testing.T) {
	for text, want := range map[string]error{
		"": nil, "a": nil, "abcdefgh": nil, "abcdefghi\x7f": nil, "\x01234567\x01": nil, "é": nil, "1234567é": nil,
		"\x00": errZeroByte, "abcdefg\x00": errZeroByte, "abcdefghé\x00": errZeroByte, "\xff": errNotUTF8, "abcdefgh\xc3": errNotUTF8, "\xed\xa0\x80": errNotUTF8,
	} {
		if got := checkText([]byte(text)); !errors.Is(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A batch that is known to be UTF-8 is encoded as one that is not, and a zero
// byte in it is found all the same.
func TestEncodeValidBatches(t *testing.T) {
	base := func(id oid) *column { return &column{typ: &typeInfo{oid: id, kind: 'b', delim: ','}, mod: -1} }
	array := base(1009)
	array.typ.elem = base(oidText).typ
	ranges := base(3904)
	ranges.typ.kind = 'r'
	for name, columns := range map[string][]*column{"binary": {base(oidText), base(oidVarchar), array}, "text": {base(oidText), ranges, base(oidJSONB)}} {
		encode := func(valid bool, cells ...string) []string {
			in := &batch.Batch{}
			in.Reset(newSchema(untyped("a", "b", "c")...))
			for _, c := range cells {
				in.Append([]byte(c))
			}
			in.Seal()
			in.ValidUTF8 = valid
			e := newRowEncoder(columns, 150000)
			var rows []string
			// The second time the encoder has seen a batch of the other kind.
			for range 2 {
				e.begin(in)
				for i := range in.Rows {
					row, column, err := e.row(nil, in, i)
					if err != nil {
						row = nil
					}
					rows = append(rows, fmt.Sprintf("%q %d %v", row, column, err))
				}
				other := &batch.Batch{ValidUTF8: !valid}
				e.begin(other)
			}
			return rows
		}
		clean := []string{"a", "é", `{"x","ü"}`, "", "日本", "{}"}
		if got, want := encode(true, clean...), encode(false, clean...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		for i := range 3 {
			cells := slices.Clone(clean)
			cells[i] += "\x00"
			got, want := encode(true, cells...), encode(false, cells...)
			if !slices.Equal(got, want) || !strings.Contains(want[0], errZeroByte.Error()) && i != 2 {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}
