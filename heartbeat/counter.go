package heartbeat

import (
	"context"
	"fmt"
)

// CounterWriter is what a coordination store lets a worker do: set its own number.
// W is the store's type for a worker's name. An error means that the number may
// not have been set; the next beat writes anew.
type CounterWriter[W ~string] interface {
	Write(ctx context.Context, worker W, value uint64) error
}

// CounterReader is what a coordination store lets a master do: read the numbers of
// all workers, none older than the call. A read that failed, or could be stale, is
// an error, and counts for nobody.
type CounterReader[W ~string] interface {
	ReadAll(ctx context.Context) (map[W]uint64, error)
}

// CounterEvent is what reading the counters has shown of a worker.
type CounterEvent[W ~string] struct {
	Worker W
	Kind   CounterEventKind
}

// CounterEventKind is the kind of a [CounterEvent].
type CounterEventKind uint8

// What a read can show.
const (
	// CounterSeen: it is there, and was not at the read before.
	CounterSeen CounterEventKind = iota + 1
	// CounterLost: it has not changed for the reads that are allowed.
	CounterLost
	// CounterMoved: it has been lost, and has changed.
	CounterMoved
	// CounterGone: it has been lost, and is not in the store any more.
	CounterGone
)

// String names the kind.
func (k CounterEventKind) String() string {
	switch k {
	case CounterSeen:
		return "seen"
	case CounterLost:
		return "lost"
	case CounterMoved:
		return "moved"
	case CounterGone:
		return "gone"
	default:
		return fmt.Sprintf("CounterEventKind(%d)", uint8(k))
	}
}
