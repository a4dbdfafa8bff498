package connectortest

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Target is one target of a sink, such as a table or a file.
type Target struct {
	// Open makes a sink over the target, as another process would: no two
	// share anything but the target. The suite closes it.
	Open func() connector.Sink
	// Rows returns what the target holds by now, in any order but for an
	// ordered plan; nothing when the target is not there yet.
	Rows func() []Row
}

// SinkHarness is what the suite has to know of a sink. The records that it
// writes have the columns id (int64, the key) and v (text).
type SinkHarness struct {
	// NewTarget makes an empty target, which the test cleans up.
	NewTarget func(t testing.TB) Target
	// Before are rows that a new target already holds.
	Before []Row
	// Empties says that Prepare empties the target.
	Empties bool
	// Replaces says that Finish leaves only the run's own rows of the target.
	Replaces bool
	// Hides says that nothing of a run shows before Finish.
	Hides bool
	// KeepsNothing says that no rows can be read back.
	KeepsNothing bool
	// Exclusive says that while a writer has written rows without committing
	// them, whatever else changes the target fails, retryable.
	Exclusive bool
	// Refused makes a record of that id that the target refuses; nil when
	// there is none such.
	Refused func(id string) Row
	// Checks is the number of random schedules, 10 when 0.
	Checks int
}

// Schema returns the columns of the records that the sink suite writes.
func Schema() *batch.Schema {
	return &batch.Schema{
		Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, {Name: "v", Type: batch.Of(batch.Text)}},
		Key:    []string{"id"},
	}
}

// RunSink runs the sink's contract.
func RunSink(t *testing.T, h SinkHarness) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, *SinkHarness)
	}{
		{"resolving changes nothing", resolvingChangesNothing},
		{"preparing and registering again changes nothing", preparingAgain},
		{"NULL is not the empty text", nullIsNotEmpty},
		{"large batches and records", largeBatches},
		{"refused records go to Reject, the rest is written", refusedRecords},
		{"an older attempt is fenced", olderAttemptIsFenced},
		{"the same token claims again", sameTokenAgain},
		{"what is not committed is not there", uncommittedIsGone},
		{"an abandoned attempt leaves what it committed", abandonedAttempt},
		{"finishing", finishing},
		{"contexts and closing", contextsAndClosing},
		{"random schedules", randomSchedules},
	} {
		t.Run(c.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
			c.test(t, &h)
		})
	}
}

// limitChecks sets how many schedules rapid tries, unless the command line
// does, and returns what puts it back.
func limitChecks(t *testing.T, checks int) {
	t.Helper()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	f := flag.Lookup("rapid.checks")
	if set || f == nil {
		return
	}
	before := f.Value.String()
	if checks == 0 {
		checks = 10
	}
	if err := f.Value.Set(itoa(checks)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Value.Set(before); err != nil {
			t.Error(err)
		}
	})
}
