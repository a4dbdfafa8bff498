package verify

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/leatdata/leat/batch"
)

func TestNormalJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"b": 1, "a" : [ 1 , 2 ]}`: `{"a":[1,2],"b":1}`,
		`1e2`:                       `100`,
		`-1.50e1`:                   `-15.0`,
		`1.0`:                       `1.0`,
		`12345678901234567890.5`:    `12345678901234567890.5`,
		`"x"`:                       `"x"`,
		`null`:                      `null`,
	} {
		got, err := normalJSON(nil, []byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "{", "1 2", "{} x", "nul"} {
		if got, err := normalJSON(nil, []byte(text)); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestKeysAreInOrder(t *testing.T) {
	order := func(kind batch.Kind, cells ...string) (keys [][]byte) {
		keys = append(keys, appendOrder(nil, kind, nil))
		for _, c := range cells {
			keys = append(keys, appendOrder(nil, kind, []byte(c)))
		}
		return keys
	}
	for name, keys := range map[string][][]byte{
		"int64":  order(batch.Int64, "-9223372036854775808", "-10", "-9", "-1", "0", "1", "9", "10", "9223372036854775807"),
		"uint64": order(batch.Uint64, "0", "9", "10", "18446744073709551615"),
		"text":   order(batch.Text, "", "\x00", "\x00\x00", "\x01", "A", "Aa", "B", "a", "é"),
	} {
		for i := 1; i < len(keys); i++ {
			if bytes.Compare(keys[i-1], keys[i]) >= 0 {
				t.Errorf("%s: key %d is not before key %d: %x, %x", name, i-1, i, keys[i-1], keys[i])
			}
		}
	}
}

// A composite key's cells cannot run into each other.
func TestCompositeKeysDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, pair := range [][2]string{{"a", "b"}, {"ab", ""}, {"", "ab"}, {"a\x00", "b"}, {"a", "\x00b"}} {
		k := appendOrder(appendOrder(nil, batch.Text, []byte(pair[0])), batch.Text, []byte(pair[1]))
		if other, ok := seen[string(k)]; ok {
			t.Errorf("%q and %q have one key", pair, other)
		}
		seen[string(k)] = fmt.Sprintf("%q", pair)
	}
}

func TestBoundsAreQuantilesOfTheSample(t *testing.T) {
	s := newSample(1000)
	for i := range 100_000 {
		cell := fmt.Append(nil, i)
		s.offer(appendOrder(nil, batch.Int64, cell), func() []string { return []string{string(cell)} })
	}
	bounds := s.bounds(4)
	if len(bounds) != 3 {
		t.Fatalf("%d bounds", len(bounds))
	}
	for i, b := range bounds {
		var n int
		if _, err := fmt.Sscan(b.texts[0], &n); err != nil || n < (i+1)*25_000-6000 || n > (i+1)*25_000+6000 {
			t.Errorf("bound %d is %s, %v", i, b.texts[0], err)
		}
	}
	few := newSample(10)
	for range 5 {
		few.offer([]byte{1}, func() []string { return []string{"x"} })
	}
	if got := few.bounds(64); len(got) != 0 {
		t.Errorf("one key makes %d bounds", len(got))
	}
}

// A key equal to a bound belongs to the range that the bound begins.
func TestCountFindsTheRange(t *testing.T) {
	c := newCounts([]key{{order: []byte{10}}, {order: []byte{20}}})
	for _, k := range []byte{0, 9, 10, 11, 19, 20, 255} {
		c.count([]byte{k}, Sum{Lo: 1})
	}
	if c.ranges[0].Rows != 2 || c.ranges[1].Rows != 3 || c.ranges[2].Rows != 2 {
		t.Errorf("got %+v", c.ranges)
	}
}

func TestSumsCarry(t *testing.T) {
	s := Sum{Hi: 1, Lo: 1<<64 - 1}
	s.add(Sum{Lo: 1})
	if s != (Sum{Hi: 2}) {
		t.Errorf("got %s", s)
	}
	if s.String() != "00000000000000020000000000000000" {
		t.Errorf("got %s", s)
	}
}
