package local

import (
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/ratelimit"
)

// Summary is how a run of a job ended. Its counters are those of the whole
// run, over all starts; Seconds are those of this start.
type Summary struct {
	Job          string            `json:"job"`
	State        jobmaster.Outcome `json:"state"`
	Read         int64             `json:"read"`
	Written      int64             `json:"written"`
	Filtered     int64             `json:"filtered"`
	Dirty        int64             `json:"dirty"`
	Merged       int64             `json:"merged"`
	Refused      int64             `json:"refused,omitempty"`
	BytesRead    int64             `json:"bytes_read"`
	BytesWritten int64             `json:"bytes_written"`
	Seconds      float64           `json:"seconds"`
	Checkpoints  int64             `json:"checkpoints"`
	// LimitBytes and LimitRecords are the last limits per second, and Waited the
	// seconds for which subtasks have waited for them, all together.
	LimitBytes   int64   `json:"limit_bytes,omitempty"`
	LimitRecords int64   `json:"limit_records,omitempty"`
	Waited       float64 `json:"waited_seconds,omitempty"`
	// Kept says, beside an error, that the state holds this run unfinished:
	// the next start goes on with it.
	Kept bool `json:"-"`
}

func (s *Summary) fill(end jobmaster.End, checkpoints int64, took time.Duration) {
	if end.Outcome != jobmaster.Unfinished {
		s.State = end.Outcome
	}
	c := end.Counters
	s.Read, s.Written, s.Filtered, s.Dirty, s.Merged, s.Refused = c.Read, c.Written, c.Filtered, c.Dirty, c.Merged, c.Refused
	s.BytesRead, s.BytesWritten = c.BytesRead, c.BytesWritten
	s.Seconds, s.Checkpoints = took.Seconds(), checkpoints
}

func (s *Summary) limited(r rate) {
	s.LimitBytes, s.LimitRecords, s.Waited = r.limit.Bytes, r.limit.Records, r.waited.Seconds()
}

// rate is how fast a job goes, and how its limit stands.
type rate struct {
	limit ratelimit.Amount
	// waited and rates are the sums over all subtasks.
	waited time.Duration
	rates  connector.Rates
}

// Progress is how a job stands.
type Progress struct {
	// Counters are the newest counts, durable or not.
	connector.Counters
	// Share is the part done, 0 to 1; negative while unknown.
	Share float64
	// Splits counts all splits found so far, Done those that are done.
	Splits, Done int
	// Enumerated says that all splits are known.
	Enumerated bool
	// Rates are those of all subtasks together, over the last 20 seconds.
	Rates connector.Rates
	// Limit is what the job may pass per second, zero for no limit, and Waited
	// the time for which subtasks have waited for it, all together.
	Limit  ratelimit.Amount
	Waited time.Duration
}

// progressOf measures by bytes where the splits tell them, else by rows, else
// by splits.
func progressOf(m *jobmaster.Master, r rate) Progress {
	p := Progress{Counters: m.Totals(), Enumerated: m.Enumerated(), Share: -1, Rates: r.rates, Limit: r.limit, Waited: r.waited}
	var total, reachedAll float64
	m.Splits(func(s connector.Split, c connector.Counters, done bool) bool {
		p.Splits++
		size, reached := float64(1), float64(0)
		switch {
		case s.Bytes > 0:
			size, reached = float64(s.Bytes), float64(c.BytesRead)
		case s.Rows > 0:
			size, reached = float64(s.Rows), float64(c.Read)
		}
		if done {
			p.Done++
			reached = size
		}
		total += size
		reachedAll += min(reached, size)
		return true
	})
	if p.Enumerated && total > 0 {
		p.Share = reachedAll / total
	}
	return p
}
