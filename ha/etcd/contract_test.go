package etcd

import (
	"slices"
	"strings"
	"testing"
	"time"

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
		return newCluster(t, testenv.Etcd(t), timeoutOf(t.Name())).world()
	}})
}

// timeoutOf is the T for a test of the contract.
func timeoutOf(test string) time.Duration {
	is := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(test, part) })
	}
	switch {
	case is("a_longer_cut", "away_at_the_start"):
		return shortTimeout
	case is("_loss", "idles", "somebody_changes", "late_event", "unhealthy"):
		return longTimeout
	case is("cut_off", "stale_leader", "has_finished", "own_older", "revoke_has_returned", "graph_outlives", "asks_the_store"):
		return longerTimeout
	}
	return calmTimeout
}
