package zookeeper

import (
	"flag"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// TestMain lets many tests run at once: they wait for sessions to end, most of
// their time.
func TestMain(m *testing.M) {
	contendIfAsked()
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	testenv.Main(m)
}
