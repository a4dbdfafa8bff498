package etcd

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
)

func TestContract(t *testing.T) {
	hatest.Run(t, hatest.Suite{World: func(t *testing.T) *hatest.World {
		if !strings.Contains(t.Name(), "/") {
			// It is only asked for its faults.
			return newCluster(t, testenv.Etcd(t), shortTimeout).world()
		}
		t.Parallel()
		timeout := shortTimeout
		if strings.Contains(t.Name(), "_loss") || strings.Contains(t.Name(), "replies") {
			timeout = longTimeout
		}
		return newCluster(t, testenv.Etcd(t), timeout).world()
	}})
}
