package heartbeat

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// asProcess names what the test binary is to be instead of a test.
const asProcess = "LEAT_HEARTBEAT_TEST_PROCESS"

// processes is filled by the external tests.
var processes = map[string]func(){}

// AsProcess lets the test binary be another process when it is told so.
func AsProcess(name string, f func()) bool {
	processes[name] = f
	return true
}

func TestMain(m *testing.M) {
	if f := processes[os.Getenv(asProcess)]; f != nil {
		f()
		return
	}
	// The tests with processes wait, most of their time. What the command line says
	// is read later, and counts.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testenv.Main(m)
}
