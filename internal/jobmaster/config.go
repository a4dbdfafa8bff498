package jobmaster

import (
	"time"

	"github.com/leatdata/leat/connector"
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
}

// WithDefaults fills what is zero.
func (c Config) WithDefaults() Config {
	if c.CheckpointInterval == 0 {
		c.CheckpointInterval = 10 * time.Second
	}
	c.Restart = c.Restart.WithDefaults()
	return c
}
