package database

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

func TestSizeUp(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct {
		bytes, rows, splitBytes, splitRows int64
		want                               Size
	}{
		"as asked":           {6400 * mib, 64000, 64 * mib, 0, Size{6400 * mib, 64000, 64 * mib, 640}},
		"enough for all":     {80 * mib, 8000, 64 * mib, 0, Size{80 * mib, 8000, 10 * mib, 1000}},
		"none too small":     {8 * mib, 8000, 64 * mib, 0, Size{8 * mib, 8000, 4 * mib, 4000}},
		"rows asked for":     {80 * mib, 8000, 64 * mib, 10, Size{80 * mib, 8000, 80 * mib / 800, 10}},
		"nothing known":      {0, 0, 64 * mib, 0, Size{0, 0, 4 * mib, 41943}},
		"no rows are known":  {80 * mib, 0, 64 * mib, 0, Size{80 * mib, 0, 10 * mib, 104857}},
		"rows, nothing else": {0, 0, 64 * mib, 7, Size{0, 0, 4 * mib, 7}},
	} {
		if got := SizeUp(c.bytes, c.rows, c.splitBytes, c.splitRows, connector.Want{Parallelism: 2}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Ranges follow one another without a gap, the outer ones are open, and NULL
// keys are a split of their own, whether all bounds are found at once or in steps.
func TestRangesCoverEverything(t *testing.T) {
	t.Parallel()
	k := Keyed{What: "table t", Key: []string{"a"}, Nullable: true}
	want := "NotNull <=10; NotNull >10 <=20; NotNull >20; Null; "
	if got := told(t, k.Cut([][]string{{"10"}, {"20"}}, Size{}).Splits); got != want {
		t.Errorf("cut: %s", got)
	}
	bounds := [][]string{{"10"}, {"20"}, nil}
	var all []connector.Split
	for at := (Cursor{}); ; {
		e, err := k.Step(at, connector.Want{Parallelism: 1}, Size{}, func(low []string) ([]string, error) {
			high := bounds[0]
			bounds = bounds[1:]
			return high, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Splits...)
		if e.Done {
			break
		}
		if at, err = DecodeCursor[Cursor](e.Next); err != nil {
			t.Fatal(err)
		}
		if err := k.Check(at); err != nil {
			t.Fatal(err)
		}
	}
	if got := told(t, all); got != want {
		t.Errorf("in steps: %s", got)
	}
	other := Keyed{What: "table t", Key: []string{"b"}}
	if err := other.Check(Cursor{Key: []string{"a"}, Low: []string{"10"}}); err == nil || !strings.Contains(err.Error(), "--restart") {
		t.Errorf("with another key: %v", err)
	}
}

func told(t *testing.T, splits []connector.Split) string {
	t.Helper()
	var text strings.Builder
	for _, s := range splits {
		r, err := DecodeSpec[Range](s.Spec)
		if err != nil {
			t.Fatal(err)
		}
		conditions, err := r.Conditions("a", func(operator string, key []string) (string, error) { return operator + strings.Join(key, ","), nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.NewReplacer("a IS NOT NULL", "NotNull", "a IS NULL", "Null").Replace(strings.Join(conditions, " "))
		fmt.Fprintf(&text, "%s; ", line)
	}
	return text.String()
}

// A position counts only in a split that is read in the order of the unique key.
func TestResume(t *testing.T) {
	t.Parallel()
	k := Keyed{Key: []string{"a", "b"}, Unique: true}
	pos, err := EncodePosition([]string{"1", "é"})
	if err != nil {
		t.Fatal(err)
	}
	after, seekable, err := k.Resume(&Range{Key: []string{"a", "b"}, Ordered: true, Low: []string{"0", "0"}}, pos)
	if err != nil || !seekable || strings.Join(after, " ") != "1 é" {
		t.Errorf("%q, %t, %v", after, seekable, err)
	}
	for _, r := range []Range{{Key: []string{"a", "b"}}, {Key: []string{"a"}, Ordered: true}} {
		if _, seekable, err := k.Resume(&r, ""); err != nil || seekable {
			t.Errorf("%+v: seekable %t, %v", r, seekable, err)
		}
		if _, _, err := k.Resume(&r, pos); err == nil {
			t.Errorf("%+v takes a position", r)
		}
	}
	if _, err := EncodePosition([]string{"\xff"}); err == nil {
		t.Error("a key that JSON would change is a position")
	}
}
