package jobmaster

import (
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/ratelimit"
)

// Event is something that happened outside. All are values.
type Event interface{ event() }

// Tick tells the time since the machine was made. Others carry no time: they
// happen at the last Tick.
type Tick struct{ Now time.Duration }

// SlotUp offers a slot that runs one attempt at a time.
type SlotUp struct{ Slot int }

// WorkerLost takes slots away; their attempts are over, whatever they did.
type WorkerLost struct{ Slots []int }

// SplitsFound answers Enumerate.
type SplitsFound struct{ connector.Enumeration }

// Stored answers Store: the state of that version, and so each before it, is durable.
type Stored struct{ Version uint64 }

// Registered answers Register.
type Registered struct{ Splits []connector.SplitID }

// TargetStates answers ReadStates.
type TargetStates struct{ States []connector.SplitState }

// Report tells that a split's state is durable, and what was measured until
// then. Its token names the attempt.
type Report struct {
	State  connector.SplitState
	Format connector.FormatState
}

// Progress tells the live counters of an attempt: what it has done since the
// split's start, durable or not.
type Progress struct {
	Split    connector.SplitID
	Token    connector.Token
	Counters connector.Counters
}

// AttemptEnded tells that an attempt has ended and its slot is free. Failure
// is nil when it ended because the split is done, or was stopped.
type AttemptEnded struct {
	Slot    int
	Split   connector.SplitID
	Token   connector.Token
	Failure *Failure
}

// Finished answers Finish.
type Finished struct{}

// EffectFailed tells that an effect (Enumerate, Store, Register, ReadStates,
// Finish) failed. Op names it.
type EffectFailed struct {
	Op      string
	Failure Failure
}

// Limit changes what the job may pass per second; zero ends the limit. One that is
// not valid changes nothing.
type Limit struct{ Limit ratelimit.Amount }

// Demand is what a slot's limiter reports, with the time at which it came.
type Demand struct {
	Now    time.Duration
	Slot   int
	Report ratelimit.Report
}

// Numbers are all that a slot has measured, as they stand.
type Numbers struct {
	Slot  int
	State connector.FormatState
}

// Cancel asks the job to stop and keep its state.
type Cancel struct{}

// Failure is an error as a value.
type Failure struct {
	Class   connector.Class `json:"class"`
	Message string          `json:"message"`
}

// FailureOf makes a value of an error; nil stays nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	return &Failure{Class: connector.ClassOf(err), Message: err.Error()}
}

func (Tick) event()         {}
func (SlotUp) event()       {}
func (WorkerLost) event()   {}
func (SplitsFound) event()  {}
func (Stored) event()       {}
func (Registered) event()   {}
func (TargetStates) event() {}
func (Report) event()       {}
func (Progress) event()     {}
func (AttemptEnded) event() {}
func (Finished) event()     {}
func (EffectFailed) event() {}
func (Limit) event()        {}
func (Demand) event()       {}
func (Numbers) event()      {}
func (Cancel) event()       {}
