package crash

import (
	"slices"
	"testing"
)

// difference is what a comparison of the target with the source finds.
type difference struct {
	// lost and doubled are rows, each as often as there are too few or too
	// many of it in the target.
	lost, doubled []string
}

func compare(s scene) difference {
	count := map[string]int{}
	for _, r := range s.want {
		count[r]++
	}
	for _, r := range s.target() {
		count[r]--
	}
	var d difference
	for r, n := range count {
		for ; n > 0; n-- {
			d.lost = append(d.lost, r)
		}
		for ; n < 0; n++ {
			d.doubled = append(d.doubled, r)
		}
	}
	slices.Sort(d.lost)
	slices.Sort(d.doubled)
	return d
}

// check compares the target with the source, row for row, and looks for what
// a run must not leave beside the rows.
func check(t *testing.T, s scene) {
	t.Helper()
	checkRows(t, s)
	if left := s.left(); len(left) > 0 {
		t.Fatalf("left in the target: %q", left)
	}
}

func checkRows(t *testing.T, s scene) {
	t.Helper()
	d := compare(s)
	if len(d.lost)+len(d.doubled) == 0 {
		return
	}
	some := func(rows []string) []string { return rows[:min(5, len(rows))] }
	t.Fatalf("%d rows are lost: %q …\n%d are doubled or strange: %q …", len(d.lost), some(d.lost), len(d.doubled), some(d.doubled))
}

// checkMark checks that nothing but the mark of a finished run is left.
func checkMark(t *testing.T, s scene) {
	t.Helper()
	for _, left := range s.left() {
		if !isMark(left) {
			t.Fatalf("left in the target: %q", left)
		}
	}
}
