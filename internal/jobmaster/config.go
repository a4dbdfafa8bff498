package jobmaster

import (
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/ratelimit"
)

// Config is what a job's file and its sink say to the machine.
type Config struct {
	// Epoch makes the upper part of all tokens; it is higher at each start.
	Epoch uint64
	// Guarantee is the sink's.
	Guarantee connector.Guarantee
	// AllowRefused lets records that the target dropped by itself count as done.
	AllowRefused bool
	// Limits bound dirty records.
	Limits Limits
	// Restart bounds attempts after retryable failures.
	Restart Restart
	// CheckpointInterval is the longest time between a report and the stored
	// state that holds it.
	CheckpointInterval time.Duration
	// Parallelism is the number of slots that the job is to have.
	Parallelism int
	// Limit is what the job may pass per second; zero is no limit. A new leader
	// that takes running attempts over says so by Adopted, the slots that they
	// have: their leases and floors are another master's.
	Limit   ratelimit.Amount
	Adopted []int
	// HeartbeatInterval is how often the subtasks' numbers are gathered; zero is
	// never. While there is a limit it is once a second at least.
	HeartbeatInterval time.Duration
	// FencedAfter is how long a lost worker may go on before it must have stopped.
	FencedAfter time.Duration
}

// WithDefaults fills what is zero.
func (c Config) WithDefaults() Config {
	if c.CheckpointInterval == 0 {
		c.CheckpointInterval = 10 * time.Second
	}
	if c.Parallelism == 0 {
		c.Parallelism = 1
	}
	if c.FencedAfter == 0 {
		c.FencedAfter = 150 * time.Second
	}
	c.Restart = c.Restart.WithDefaults()
	return c
}
