package zk

import (
	"sync"

	zookeeper "github.com/go-zookeeper/zk"
)

// alarms are the watches that a connection has set and that have not gone off.
// Whoever looks at the same node shares one.
type alarms struct {
	mu  sync.Mutex
	set map[alarmKey]alarm
}

type alarmKey struct {
	path string
	// children says that the watch is for the list of children, else for the node.
	children bool
}

// alarm goes off by an event and its end: it can be received from for ever after.
type alarm <-chan zookeeper.Event

func (a alarm) rung() bool {
	select {
	case <-a:
		return true
	default:
		return false
	}
}

// find returns the alarm that is set and has not gone off, or nil.
func (a *alarms) find(key alarmKey) alarm {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := a.set[key]
	if found == nil {
		return nil
	}
	if found.rung() {
		delete(a.set, key)
		return nil
	}
	return found
}

func (a *alarms) add(key alarmKey, set alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set == nil {
		a.set = map[alarmKey]alarm{}
	}
	a.set[key] = set
}

// drop forgets an alarm that has gone off.
func (a *alarms) drop(key alarmKey, rung alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set[key] == rung {
		delete(a.set, key)
	}
}
