package postgres

import (
	"bytes"
	"math"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Whatever a cell holds comes back from COPY's text form as it was.
func FuzzCopyText(f *testing.F) {
	f.Add([]byte("a"), []byte("b\tc\\N\n"), false)
	f.Add([]byte(`\N`), []byte(""), true)
	f.Add([]byte("\\"), []byte("\\\\t\r\b\f\v\x00"), false)
	text := column{name: "v", typ: &typeInfo{oid: oidText, kind: 'b'}}
	f.Fuzz(func(t *testing.T, first, second []byte, missing bool) {
		line := appendEscaped(nil, first)
		line = append(line, '\t')
		if missing {
			line = append(line, '\\', 'N')
		} else {
			line = appendEscaped(line, second)
		}
		line = append(line, '\n')
		d := newRowDecoder([]column{text, text}, nil)
		b := &batch.Batch{}
		b.Reset(newSchema(untyped("a", "b")...))
		check(t, d.decode(b, line))
		b.Seal()
		if got := b.Columns[0].Cell(0); !bytes.Equal(got, first) {
			t.Errorf("%q became %q", first, got)
		}
		if got := b.Columns[1].Cell(0); missing != (got == nil) || !missing && !bytes.Equal(got, second) {
			t.Errorf("%q (missing: %t) became %q", second, missing, got)
		}
	})
}

// A line that is no row of ours is an error, and nothing worse.
func FuzzCopyLine(f *testing.F) {
	f.Add([]byte("t\t\\\\x00\t12:00:00+02\t{t,f}\n"))
	f.Add([]byte("\t\t\t\n"))
	f.Add([]byte("\\\n"))
	f.Fuzz(func(_ *testing.T, line []byte) {
		boolean := &typeInfo{oid: oidBool, kind: 'b'}
		d := newRowDecoder([]column{
			{name: "b", typ: boolean},
			{name: "x", typ: &typeInfo{oid: oidBytea, kind: 'b'}},
			{name: "t", typ: &typeInfo{oid: oidTimeTZ, kind: 'b'}},
			{name: "a", typ: &typeInfo{oid: 1000, kind: 'b', elem: boolean, delim: ','}},
		}, nil)
		b := &batch.Batch{}
		b.Reset(newSchema(untyped("b", "x", "t", "a")...))
		d.begin(b)
		if d.decode(b, line) == nil {
			b.Seal()
			b.Row(0)
		}
	})
}

// Both ways of a number agree, and what fits a column is told by its digits.
func FuzzNumeric(f *testing.F) {
	for _, s := range []string{"0", "-7.10", "9999999999999999", "1e5", "NaN", ".5", "000.000", "12345678901234567890.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if f, ok := plainFloat([]byte(s)); ok {
			want := must(value.ParseFloat([]byte(s), 64))(t)
			if math.Float64bits(f) != math.Float64bits(want) {
				t.Errorf("%s: %v, want %v", s, f, want)
			}
		}
		short, ok := (&encoder{}).appendPlain(nil, []byte(s))
		if !ok {
			return
		}
		d, err := value.SplitDecimal([]byte(s))
		check(t, err)
		if long := must(appendDigits(nil, &d))(t); !bytes.Equal(short, long) {
			t.Errorf("%s: %x, want %x", s, short, long)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"a.b", `"a""b"."c"`, `"`, "..", `a"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseName(s)
		if err != nil {
			return
		}
		again, err := parseName(n.String())
		if err != nil || again != n {
			t.Errorf("%q: %s is read back as %s, %v", s, n, again, err)
		}
	})
}

func FuzzPosition(f *testing.F) {
	f.Add(`["1","x"]`, 2)
	f.Add(`[null]`, 1)
	f.Add(`{`, 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		key, err := database.DecodePosition(connector.Position(s), n)
		if err != nil || key == nil {
			return
		}
		pos, err := database.EncodePosition(key)
		check(t, err)
		again, err := database.DecodePosition(pos, n)
		if err != nil || len(again) != len(key) {
			t.Errorf("%q: %q is read back as %q, %v", s, key, again, err)
		}
	})
}

func FuzzLineOf(f *testing.F) {
	f.Add("COPY t, line 17, column id", "t")
	f.Add("x\n\n9999999999999999999999", "")
	f.Fuzz(func(t *testing.T, where, table string) {
		if n := lineOf(where, table); n < 0 {
			t.Errorf("%q, %q: %d", where, table, n)
		}
	})
}
