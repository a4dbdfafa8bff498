package jobmaster

import (
	"fmt"

	"github.com/leatdata/leat/connector"
)

// minForPercentage is the number of records read before a percentage is judged.
const minForPercentage = 1000

// Limits bound a job's dirty records (exactness rule 13). A job fails when a
// bound is exceeded, not when it is reached.
type Limits struct {
	// Records is the largest number of dirty records; negative is no bound.
	Records int64
	// Percentage is the largest share of dirty records among those read, 0 to
	// 100; negative is no bound. It is judged after 1,000 records and at the end.
	Percentage float64
}

// exceeded returns the failure of counters that pass a bound, or nil.
func (l Limits) exceeded(c connector.Counters, atEnd bool) *Failure {
	if l.Records >= 0 && c.Dirty > l.Records {
		return &Failure{Class: connector.Dirty, Message: fmt.Sprintf(
			"%s: more than errors.records = %d allows", dirtyRecords(c.Dirty), l.Records)}
	}
	if l.Percentage < 0 || c.Read == 0 || (c.Read < minForPercentage && !atEnd) {
		return nil
	}
	if share := 100 * float64(c.Dirty) / float64(c.Read); share > l.Percentage {
		return &Failure{Class: connector.Dirty, Message: fmt.Sprintf(
			"%s of %d read (%.3g %%): more than errors.percentage = %g allows",
			dirtyRecords(c.Dirty), c.Read, share, l.Percentage)}
	}
	return nil
}

func dirtyRecords(n int64) string {
	if n == 1 {
		return "1 dirty record"
	}
	return fmt.Sprintf("%d dirty records", n)
}
