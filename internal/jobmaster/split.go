package jobmaster

import (
	"time"

	"github.com/leatdata/leat/connector"
)

// status is where a split stands; see the package comment.
type status uint8

const (
	found status = iota
	stored
	pending
	running
	done
)

// split is what the machine knows of one split.
type split struct {
	value  connector.Split
	state  connector.SplitState
	status status
	// format is what was measured until the durable state.
	format connector.FormatState
	// slot and token are those of the running attempt.
	slot  int
	token connector.Token
	// stopping says that Stop has been given for the attempt.
	stopping bool
	// live is the attempt's last progress, zero when there is no attempt.
	live connector.Counters
	// failures counts attempts that ended since the last commit.
	failures int
	// notBefore is when a pending split may be handed out.
	notBefore time.Duration
}

// counters returns the newest counts of the split, durable or not. Those of
// an attempt that was stopped with the job are kept, so that the summary of a
// failed job tells what was seen.
func (s *split) counters() connector.Counters {
	if s.live.Read >= s.state.Counters.Read && s.live.Dirty >= s.state.Counters.Dirty {
		return s.live
	}
	return s.state.Counters
}
