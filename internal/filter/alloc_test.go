//go:build !race

package filter

import "testing"

// The hot path makes no garbage.
func TestAllocsOfMatch(t *testing.T) {
	s, b := thousand(t, people())
	for name, expression := range usual() {
		f, err := Compile(expression, s)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(10, func() { matchAll(t, f, b) }); n > 1 {
			t.Errorf("%s: %v allocations in %d records", name, n, b.Rows)
		}
	}
}
