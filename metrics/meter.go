package metrics

import (
	"sync"
	"time"
)

const (
	// meterWindow is the time over which a meter tells the rate.
	meterWindow = 20 * time.Second
	meterBucket = 500 * time.Millisecond
	// meterBuckets are the whole ones of the window, and the one that fills.
	meterBuckets = int64(meterWindow/meterBucket) + 1
)

// Meter counts events and tells how many came per second of the last 20.
type Meter struct {
	now func() time.Duration

	mu    sync.Mutex
	total int64
	// begun is the time of the first event, or before it where the rate goes on.
	begun   time.Duration
	started bool
	last    int64 // the bucket that fills
	buckets [meterBuckets]int64
}

func newMeter(now func() time.Duration) *Meter { return &Meter{now: now} }

// Mark counts n events.
func (m *Meter) Mark(n int64) {
	now := m.now()
	m.mu.Lock()
	if !m.started {
		m.started, m.begun, m.last = true, now, int64(now/meterBucket)
	}
	m.advance(now)
	m.total += n
	m.buckets[m.last%meterBuckets] += n
	m.mu.Unlock()
}

// advance empties the buckets between the last event and now.
func (m *Meter) advance(now time.Duration) {
	to := int64(now / meterBucket)
	for m.last < to {
		m.last = max(m.last+1, to-meterBuckets+1)
		m.buckets[m.last%meterBuckets] = 0
	}
}

// Restore adds what was counted before, at a rate that goes on from here as if
// it had been held for the last 20 seconds.
func (m *Meter) Restore(total int64, perSecond float64) {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.started {
		m.started, m.begun, m.last = true, now, int64(now/meterBucket)
	}
	m.advance(now)
	m.total += total
	if perSecond <= 0 {
		return
	}
	m.begun = min(m.begun, now-meterWindow)
	for i := range m.buckets {
		if int64(i) != m.last%meterBuckets {
			m.buckets[i] += int64(perSecond * meterBucket.Seconds())
		}
	}
}

// Count returns the number of all events.
func (m *Meter) Count() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}

// Rate returns the events per second over the last 20 seconds, or since the
// first event where that is less; not over less than one.
func (m *Meter) Rate() float64 {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.started {
		return 0
	}
	m.advance(now)
	sum := int64(0)
	for _, n := range m.buckets {
		sum += n
	}
	// The buckets hold what came since the oldest of them began.
	since := max(time.Duration(m.last-meterBuckets+1)*meterBucket, m.begun)
	return float64(sum) / max(now-since, time.Second).Seconds()
}
