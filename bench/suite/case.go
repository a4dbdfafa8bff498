package suite

import (
	"context"
	"strings"

	"github.com/leatdata/leat/bench/process"
)

// Case is one copy that several contenders do. The first contender is the peer
// against whom the others are measured.
type Case struct {
	Name       string
	Rows       int
	Bytes      int64
	Contenders []Contender

	// reset makes the target empty before a run.
	reset func(ctx context.Context) error
	// fingerprint says what the target holds after one: equal for equal content,
	// in any order.
	fingerprint func(ctx context.Context) (Fingerprint, error)
}

// Contender is a way to do a case's copy.
type Contender struct {
	Name    string
	Streams int
	// Goal is how many times as fast as the peer it must be, 0 when nothing is
	// asked. An aim is a goal that fails nothing yet.
	Goal float64
	Aim  bool

	// commands returns what to run, side by side.
	commands func() ([]process.Command, error)
}

// Fingerprint is the number of records and a hash of their contents.
type Fingerprint struct {
	Rows int
	Hash string
}

// Ours says whether the contender is leat.
func (c Contender) Ours() bool { return strings.HasPrefix(c.Name, "leat") }
