package ratelimit

import "time"

// Model is the policy of FlinkX (today ChunJun), for comparison: nothing is
// limited before 1,000 records have been read, and then a worker's records per
// second are limit ÷ (total bytes ÷ total records) × (its records ÷ total
// records). A ledger that has it does not hold the parts to the limit.
type Model struct{}

const (
	modelRecords = 1000
	unlimited    = int64(1) << 50
)

// Split implements Policy.
func (Model) Split(_ Amount, window time.Duration, limit Amount, demands []Demand, parts []Amount) {
	var total Amount
	for i := range demands {
		total = total.Add(demands[i].Passed)
	}
	for i := range demands {
		parts[i] = Amount{Bytes: unlimited, Records: unlimited}
		if total.Records < modelRecords || total.Bytes == 0 {
			continue
		}
		share := float64(demands[i].Passed.Records) / float64(total.Records)
		if limit.Bytes > 0 {
			size := float64(total.Bytes) / float64(total.Records)
			parts[i].Records = int64(float64(limit.Bytes) / size * share * window.Seconds())
		}
		if limit.Records > 0 {
			parts[i].Records = min(parts[i].Records, int64(float64(limit.Records)*share*window.Seconds()))
		}
		parts[i].Bytes = int64(float64(parts[i].Records) * float64(total.Bytes) / float64(total.Records))
	}
}
