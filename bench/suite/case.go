package suite

import (
	"context"
	"slices"
	"strings"

	"github.com/leatdata/leat/bench/process"
)

// Case is one copy that several contenders do. The first contender is the peer
// against whom the others are measured, unless their goals name another.
type Case struct {
	Group, Name string
	Rows        int
	Bytes       int64
	Contenders  []Contender
	// Parquet says that files of that format are read or written, which takes more
	// memory than rows do.
	Parquet bool

	// servers are the processes whose trees do the servers' part.
	servers []int
	// reset makes the target empty before a run.
	reset func(ctx context.Context) error
	// fingerprint says what the target holds after one: equal for equal content,
	// in any order.
	fingerprint fingerprint
}

// Contender is a way to do a case's copy.
type Contender struct {
	Name    string
	Streams int
	Goals   []Goal

	// commands returns what to run, side by side.
	commands func() ([]process.Command, error)
	// other is set for a peer that cannot do the case's copy, and does another in
	// its place.
	other *otherCopy
}

// otherCopy is what a peer leaves that does not do the case's own copy.
type otherCopy struct {
	rows        int
	fingerprint fingerprint
}

// Goal is what a contender must reach against a peer.
type Goal struct {
	// Against is the peer's name.
	Against string
	// Speed is how many times as fast as the peer it must be at least.
	Speed float64
	// Memory is how many times the peer's peak it may take at most; 0 is any.
	Memory float64
}

// Fingerprint is the number of records and a hash of their contents.
type Fingerprint struct {
	Rows int
	Hash string
}

// Ours says whether the contender is leat.
func (c Contender) Ours() bool { return strings.HasPrefix(c.Name, "leat") }

// RowsOf is how many rows a contender copies, which is another number than the
// case's for a peer that does another copy.
func (c Case) RowsOf(contender Contender) int {
	if contender.other != nil {
		return contender.other.rows
	}
	return c.Rows
}

// Peer is the number of the contender with this name, -1 when there is none.
func (c Case) Peer(name string) int {
	return slices.IndexFunc(c.Contenders, func(other Contender) bool { return other.Name == name })
}

// WithoutLeat is the case with its peers alone.
func (c Case) WithoutLeat() Case {
	c.Contenders = slices.DeleteFunc(slices.Clone(c.Contenders), Contender.Ours)
	return c
}

// command makes what a contender runs out of a command that is always the same.
func command(c process.Command) func() ([]process.Command, error) {
	return func() ([]process.Command, error) { return []process.Command{c}, nil }
}

// pipe is the last of the commands, each of which reads what the one before it
// writes.
func pipe(commands ...process.Command) process.Command {
	last := commands[0]
	for _, next := range commands[1:] {
		from := last
		next.From = &from
		last = next
	}
	return last
}
