package task

import (
	"sync"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/metrics"
	"github.com/leatdata/leat/ratelimit"
)

// Numbers are the metrics of a subtask. The writing side adds to them, anybody
// may look.
type Numbers struct {
	readRecords, readBytes   *metrics.Meter
	writeRecords, writeBytes *metrics.Meter
	readTime, writeTime      *metrics.Duration
	errors                   [batch.CauseOther + 1]*metrics.Counter
	batchBytes, commitTime   *metrics.Histogram
	lastSplit, lastNumber    *metrics.Gauge

	mu sync.Mutex
	// lastWrote is where the last durable record went.
	lastWrote connector.Place
}

func newNumbers(g *metrics.Group, limiter *ratelimit.Limiter) *Numbers {
	n := &Numbers{
		readRecords:  g.Meter("read_records", "records taken from the source that the limit, if any, let pass"),
		readBytes:    g.Meter("read_bytes", "record bytes taken from the source that the limit, if any, let pass"),
		readTime:     g.Duration("read", "time spent reading and parsing"),
		writeRecords: g.Meter("write_records", "records that the target counted, once durable"),
		writeBytes:   g.Meter("write_bytes", "record bytes that were written, once durable"),
		writeTime:    g.Duration("write", "time spent encoding, writing and committing"),
		batchBytes: g.Histogram("batch_bytes", "record bytes of a batch as it was read",
			1<<10, 4<<10, 16<<10, 64<<10, 256<<10, 1<<20, 4<<20, 16<<20, 64<<20),
		commitTime: g.Histogram("commit_seconds", "time that a commit took, with what it waited for",
			.001, .003, .01, .03, .1, .3, 1, 3, 10, 30),
		lastSplit:  g.Gauge("last_write_split", "split of the last durable record"),
		lastNumber: g.Gauge("last_write_number", "number of records of that split that were durable then"),
	}
	for cause, name := range map[batch.Cause]string{
		batch.CauseNull: "null", batch.CauseDuplicate: "duplicate",
		batch.CauseConversion: "conversion", batch.CauseOther: "other",
	} {
		n.errors[cause] = g.With("cause", name).Counter("errors", "dirty records")
	}
	n.errors[batch.CauseUntold] = n.errors[batch.CauseConversion] // a reader's
	g.GaugeFunc("limit_wait_seconds", "time for which batches have waited for the job's limit",
		func() float64 { return limiter.State().Waited.Seconds() })
	g.GaugeFunc("limit_passed_bytes", "record bytes that passed while there was a limit",
		func() float64 { return float64(limiter.State().Passed.Bytes) })
	g.GaugeFunc("limit_passed_records", "records that passed while there was a limit",
		func() float64 { return float64(limiter.State().Passed.Records) })
	return n
}

// read counts a batch that goes on its way: behind the limit, so that the rates
// are what passes.
func (n *Numbers) read(b *batch.Batch) {
	n.readRecords.Mark(b.Read)
	n.readBytes.Mark(b.Bytes)
}

// dirty counts a dirty record.
func (n *Numbers) dirty(c batch.Cause) { n.errors[c].Inc() }

// committed counts what a commit has made durable.
func (n *Numbers) committed(before, after connector.SplitState, took time.Duration) {
	n.writeRecords.Mark(max(0, after.Counters.Written-before.Counters.Written))
	n.writeBytes.Mark(max(0, after.Counters.BytesWritten-before.Counters.BytesWritten))
	n.commitTime.Observe(took.Seconds())
	n.setPlace(connector.Place{Split: after.Split, Position: after.Position, Number: after.Counters.Written})
}

func (n *Numbers) setPlace(p connector.Place) {
	n.mu.Lock()
	n.lastWrote = p
	n.mu.Unlock()
	n.lastSplit.Set(float64(p.Split))
	n.lastNumber.Set(float64(p.Number))
}

// Rates are records and bytes per second over the last 20 seconds.
func (n *Numbers) Rates() connector.Rates {
	return connector.Rates{
		Read: n.readRecords.Rate(), BytesRead: n.readBytes.Rate(),
		Written: n.writeRecords.Rate(), BytesWritten: n.writeBytes.Rate(),
	}
}

// State returns all numbers as they stand.
func (n *Numbers) State() connector.FormatState {
	s := connector.FormatState{
		Read: n.readRecords.Count(), BytesRead: n.readBytes.Count(), ReadTime: n.readTime.Value(),
		Written: n.writeRecords.Count(), BytesWritten: n.writeBytes.Count(), WriteTime: n.writeTime.Value(),
		Errors: connector.CauseCounts{
			Null: n.errors[batch.CauseNull].Value(), Duplicate: n.errors[batch.CauseDuplicate].Value(),
			Conversion: n.errors[batch.CauseConversion].Value(), Other: n.errors[batch.CauseOther].Value(),
		},
		Rates: n.Rates(),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s.LastWrote = n.lastWrote
	return s
}

// Restore adds what was measured before this start: numbers and rates go on
// from there.
func (n *Numbers) Restore(s connector.FormatState) {
	n.readRecords.Restore(s.Read, s.Rates.Read)
	n.readBytes.Restore(s.BytesRead, s.Rates.BytesRead)
	n.readTime.Add(s.ReadTime)
	n.writeRecords.Restore(s.Written, s.Rates.Written)
	n.writeBytes.Restore(s.BytesWritten, s.Rates.BytesWritten)
	n.writeTime.Add(s.WriteTime)
	n.errors[batch.CauseNull].Add(s.Errors.Null)
	n.errors[batch.CauseDuplicate].Add(s.Errors.Duplicate)
	n.errors[batch.CauseConversion].Add(s.Errors.Conversion)
	n.errors[batch.CauseOther].Add(s.Errors.Other)
	n.setPlace(s.LastWrote)
}

// causeCount is the count of a cause.
func causeCount(c *connector.CauseCounts, cause batch.Cause) *int64 {
	switch cause {
	case batch.CauseNull:
		return &c.Null
	case batch.CauseDuplicate:
		return &c.Duplicate
	case batch.CauseOther:
		return &c.Other
	}
	return &c.Conversion // a reader's, which makes no row of it
}
