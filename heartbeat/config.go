package heartbeat

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"syscall"
	"time"
)

// Config is what [Services] are made from. Every zero has a default.
type Config struct {
	// Interval is how often each target is sent a request (heartbeat.interval);
	// 0: 10 s.
	Interval time.Duration
	// Timeout is how long a target may be silent (heartbeat.timeout); 0: 50 s.
	Timeout time.Duration
	// FailureThreshold is after how many refused connections in a row, without a
	// heartbeat between them, a target is given up before its timeout
	// (heartbeat.rpc-failure-threshold); 0: 2, and -1: they are not counted.
	FailureThreshold int
	// SuspectLimit is for how long a worker may be suspect, and for how long it
	// works on without its leader (heartbeat.suspect-limit); 0: 150 s. See
	// [Witnesses] and [Fence].
	SuspectLimit time.Duration
	// OrphanGrace is for how long a worker works on that neither hears a master nor
	// can write its counter (heartbeat.orphan-grace); 0: 60 s.
	OrphanGrace time.Duration
	// Counter configures the counter heartbeat.
	Counter CounterConfig

	// Refused says whether an error of a send means that nobody listens at the
	// target's address; nil: [ErrRefused] and ECONNREFUSED do.
	Refused func(error) bool
	// Clock is the time since some fixed moment, and never goes back; nil: the
	// process's monotonic clock. No other clock is read.
	Clock func() time.Duration
	// Logger is told of what is odd and harms nothing; nil: nobody is.
	Logger *slog.Logger
}

// CounterConfig is what the counter heartbeat is made from.
type CounterConfig struct {
	// Interval is how often a worker writes its counter
	// (heartbeat.counter.interval); 0: 5 s.
	Interval time.Duration
	// CheckPeriod is how often a master reads them all
	// (heartbeat.counter.check-period); 0: 5 s.
	CheckPeriod time.Duration
	// MaxMisses is after how many reads in a row without a change a counter is lost
	// (heartbeat.counter.max-misses); 0: 4.
	MaxMisses int
	// MaxWrites bounds what all workers together write per second
	// (heartbeat.counter.max-writes); 0: 200. See [CounterConfig.Every].
	MaxWrites int
}

// WithDefaults returns the config with every zero replaced by its default.
func (c Config) WithDefaults() Config {
	orTime(&c.Interval, 10*time.Second)
	orTime(&c.Timeout, 50*time.Second)
	orTime(&c.SuspectLimit, 150*time.Second)
	orTime(&c.OrphanGrace, time.Minute)
	orInt(&c.FailureThreshold, 2)
	c.Counter = c.Counter.WithDefaults()
	if c.Refused == nil {
		c.Refused = refused
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// WithDefaults returns the config with every zero replaced by its default.
func (c CounterConfig) WithDefaults() CounterConfig {
	orTime(&c.Interval, 5*time.Second)
	orTime(&c.CheckPeriod, 5*time.Second)
	orInt(&c.MaxMisses, 4)
	orInt(&c.MaxWrites, 200)
	return c
}

func orTime(v *time.Duration, d time.Duration) {
	if *v == 0 {
		*v = d
	}
}

func orInt(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

const (
	// minInterval keeps a slip of the unit (10 for 10 s) from becoming a flood.
	minInterval = time.Millisecond
	// maxTime and maxCount keep sums and products of them from overflowing, also of
	// who means never.
	maxTime  = 365 * 24 * time.Hour
	maxCount = 1 << 20
)

// Validate reports all that is wrong with a config whose defaults are filled in.
func (c Config) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Interval < minInterval {
		wrong("heartbeat.interval is %s: at least %s", c.Interval, minInterval)
	}
	if c.Timeout <= c.Interval {
		wrong("heartbeat.timeout is %s, and heartbeat.interval %s: the interval has to be smaller than the timeout",
			c.Timeout, c.Interval)
	}
	notLonger := func(key string, d time.Duration) {
		if d > maxTime {
			wrong("%s is %s: at most %s", key, d, maxTime)
		}
	}
	notLonger("heartbeat.timeout", c.Timeout)
	notLonger("heartbeat.suspect-limit", c.SuspectLimit)
	notLonger("heartbeat.orphan-grace", c.OrphanGrace)
	if c.FailureThreshold < -1 {
		wrong("heartbeat.rpc-failure-threshold is %d: at least 1, or -1 for none", c.FailureThreshold)
	}
	if c.SuspectLimit < c.Timeout {
		wrong("heartbeat.suspect-limit is %s: at least heartbeat.timeout, %s", c.SuspectLimit, c.Timeout)
	}
	if c.OrphanGrace < c.Counter.Interval {
		wrong("heartbeat.orphan-grace is %s: at least heartbeat.counter.interval, %s", c.OrphanGrace, c.Counter.Interval)
	}
	return errors.Join(append(problems, c.Counter.Validate())...)
}

// Validate reports all that is wrong with a config whose defaults are filled in.
func (c CounterConfig) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Interval < minInterval || c.Interval > maxTime {
		wrong("heartbeat.counter.interval is %s: from %s to %s", c.Interval, minInterval, maxTime)
	}
	if c.CheckPeriod < minInterval || c.CheckPeriod > maxTime {
		wrong("heartbeat.counter.check-period is %s: from %s to %s", c.CheckPeriod, minInterval, maxTime)
	}
	if c.MaxMisses < 1 || c.MaxMisses > maxCount {
		wrong("heartbeat.counter.max-misses is %d: from 1 to %d", c.MaxMisses, maxCount)
	} else if c.CheckPeriod > 0 && time.Duration(c.MaxMisses) <= c.Interval/c.CheckPeriod {
		wrong("heartbeat.counter.check-period × max-misses is %s, and heartbeat.counter.interval %s: "+
			"a worker that writes on time would be lost", c.CheckPeriod*time.Duration(c.MaxMisses), c.Interval)
	}
	if c.MaxWrites < 1 {
		wrong("heartbeat.counter.max-writes is %d: at least 1", c.MaxWrites)
	}
	return errors.Join(problems...)
}

// Every is how often each of so many workers writes its counter: once per
// Interval, or as seldom as keeps all of them together within MaxWrites. A write
// is a transaction that a majority of the store's servers put on disk, in the same
// log as epochs and sessions: were there more of them than the disks bear, leaders
// would lose their sessions, which costs more than a loss found later. What is zero
// has its default.
func (c CounterConfig) Every(workers int) time.Duration {
	c = c.WithDefaults()
	// The number may come from another process: no number overflows.
	workers = max(0, min(workers, math.MaxInt32))
	return max(c.Interval, time.Duration(workers)*time.Second/time.Duration(c.MaxWrites))
}

// stretch is how many times longer than Interval the workers' interval is,
// rounded up.
func (c CounterConfig) stretch(workers int) int {
	return int((c.Every(workers) + c.Interval - 1) / c.Interval)
}

// ErrRefused is what a [Target] returns, or wraps, when nobody listens at the
// peer's address. ECONNREFUSED counts as well.
var ErrRefused = errors.New("connection refused")

func refused(err error) bool {
	return errors.Is(err, ErrRefused) || errors.Is(err, syscall.ECONNREFUSED)
}
