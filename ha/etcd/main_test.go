package etcd

import (
	"flag"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// TestMain lets many tests run at once: they wait for leases to end, most of their
// time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "20"); err != nil {
		panic(err)
	}
	testenv.Main(m)
}
