package jobmaster

import (
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/ratelimit"
)

// Effect is something to carry out. Enumerate, Store, Register, ReadStates
// and Finish are answered by an event; at most one of each is out at a time.
// All but Store are given again, after a back-off, when they failed retryably.
type Effect interface{ effect() }

// Enumerate asks the source for the splits after a cursor.
type Enumerate struct {
	Cursor connector.Cursor
	First  connector.SplitID
}

// Store asks for the state to be made durable.
type Store struct {
	Version uint64
	State   State
}

// Register asks the sink to make stored splits known to the target.
type Register struct{ Splits []connector.Split }

// ReadStates asks the sink for its durable states.
type ReadStates struct{}

// Assign hands a split to a slot.
type Assign struct {
	Slot  int
	Split connector.Split
	Token connector.Token
	State connector.SplitState
	// Format is what was measured until that state.
	Format connector.FormatState
}

// Stop asks the slot's attempt to end without committing what is open.
type Stop struct {
	Slot  int
	Split connector.SplitID
	Token connector.Token
}

// Finish asks the sink to make the result visible.
type Finish struct{ States []connector.SplitState }

// Grant gives a slot a lease of the limit.
type Grant struct {
	Slot  int
	Lease ratelimit.Lease
}

// Restore tells a slot what was measured before this start and counts as its
// own from now on.
type Restore struct {
	Slot  int
	State connector.FormatState
}

// Global tells all slots the sums of a round.
type Global struct {
	Round uint64
	Sum   connector.FormatState
}

// End tells how the job ended. Nothing comes after it.
type End struct {
	Outcome  Outcome
	Counters connector.Counters
	Failure  *Failure
}

func (Enumerate) effect()  {}
func (Store) effect()      {}
func (Register) effect()   {}
func (ReadStates) effect() {}
func (Assign) effect()     {}
func (Stop) effect()       {}
func (Finish) effect()     {}
func (Grant) effect()      {}
func (Restore) effect()    {}
func (Global) effect()     {}
func (End) effect()        {}
