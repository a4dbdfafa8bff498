package crash

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) {
	// Scenes wait, for processes, disks and locks, more than they work. What
	// the command line says is read later, and counts.
	if err := flag.Set("test.parallel", "4"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testenv.Main(m)
}
