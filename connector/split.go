package connector

import "fmt"

// SplitID numbers the splits of a run in the source's order, from 0.
type SplitID int64

// Position says where in a split reading goes on. It is the source's own
// text, short enough for a database row; the empty Position is the start.
type Position string

// Cursor says where enumeration of splits goes on; empty at the start.
type Cursor string

// Split is a part of a source as a value: everything needed to read the same
// records again on another machine after a crash.
type Split struct {
	ID SplitID `json:"id"`
	// Spec is the source's own text (JSON by custom): bounds, and what they were made from.
	Spec string `json:"spec"`
	// Bytes and Rows estimate its size for progress; 0 when unknown.
	Bytes int64 `json:"bytes,omitempty"`
	Rows  int64 `json:"rows,omitempty"`
	// Label names the split to people: "airports.csv from byte 0".
	Label string `json:"label,omitempty"`
}

// Token identifies an attempt at a split and orders attempts: the epoch that
// issued it in the upper 40 bits, a counter in the lower 24. 0 is nobody's.
type Token uint64

// NewToken makes the token of an epoch's n-th attempt.
func NewToken(epoch uint64, n uint32) Token { return Token(epoch<<24 | uint64(n&0xffffff)) }

// String returns the token as epoch.counter.
func (t Token) String() string { return fmt.Sprintf("%d.%d", uint64(t)>>24, uint64(t)&0xffffff) }

// Enumeration is a step of a source's listing of its splits.
type Enumeration struct {
	// Splits have ids that go on from those of the step before.
	Splits []Split
	// Next is where the following step starts.
	Next Cursor
	// Done says that there is no following step.
	Done bool
}
