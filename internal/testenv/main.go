package testenv

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package and exits: it ends what they shared, and
// fails a run that passed but left goroutines behind. It is the whole of a
// TestMain:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
func Main(m *testing.M, options ...goleak.Option) {
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		code = max(code, 1)
	}
	if code == 0 {
		if err := goleak.Find(options...); err != nil {
			fmt.Fprintln(os.Stderr, "testenv: goroutines left over at the end:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// LeakOptions lets a single test look for its own leftover goroutines while the
// servers shared by the test binary run on.
func LeakOptions() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("github.com/leatdata/leat/internal/testenv/child.(*Child).own"),
	}
}
