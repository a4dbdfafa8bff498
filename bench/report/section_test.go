package report

import (
	"errors"
	"testing"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	got, err := splice("# Title\n"+begin+"old\nold\n"+end+"tail\n", "\nnew\n")
	if want := "# Title\n" + begin + "\nnew\n\n" + end + "tail\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, without := range []string{"", begin, end, end + begin} {
		if _, err := splice(without, "new"); !errors.Is(err, errNoMarks) {
			t.Errorf("%q: got %v", without, err)
		}
	}
}
