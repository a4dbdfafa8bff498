package zookeeper

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
)

func TestContract(t *testing.T) {
	// Those that wait for a session to end, by their names, and those that must not lose
	// theirs to a cut.
	waits := regexp.MustCompile("cut|away|stale|stop_hook|unhealthy|idles|late_event|run_again|older_session|revoke_has|outlives")
	hatest.Run(t, hatest.Suite{World: func(t *testing.T) *hatest.World {
		if !strings.Contains(t.Name(), "/") {
			// It is only asked for its faults.
			return newCluster(t, testenv.ZooKeeper(t), shortTimeout).world()
		}
		t.Parallel()
		return newCluster(t, testenv.ZooKeeper(t), timeoutFor(t.Name(), waits)).world()
	}})
}

func timeoutFor(name string, waits *regexp.Regexp) time.Duration {
	switch {
	case strings.Contains(name, "_loss"), strings.Contains(name, "somebody_changes"):
		return longTimeout
	case waits.MatchString(name):
		return shortTimeout
	}
	return steadyTimeout
}
