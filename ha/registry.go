package ha

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
)

// Factory makes the services of one type. It starts nothing that outlives an
// error, and need not reach the store: a store that is away is waited for. What
// the configuration itself rules out is an ErrConfig at once.
type Factory func(ctx context.Context, cfg Config) (Services, error)

// Registry has factories by the name that high-availability.type gives. It is a
// value: whoever assembles a program makes one, and adds its own.
type Registry map[string]Factory

// Open makes the services that the configuration asks for.
func (r Registry) Open(ctx context.Context, cfg Config) (Services, error) {
	factory, ok := r[cfg.Type]
	if !ok {
		return nil, fmt.Errorf("high-availability.type: no factory is called %q, there are: %s: %w",
			cfg.Type, strings.Join(slices.Sorted(maps.Keys(r)), ", "), ErrConfig)
	}
	services, err := factory(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("high availability of type %s: %w", cfg.Type, err)
	}
	return services, nil
}

// Config is what all factories are told. A field that a type has no use for is
// left alone.
type Config struct {
	// Type names the factory.
	Type string
	// ClusterID keeps clusters in one store apart, such as "/default".
	ClusterID string
	// StorageDir is where blobs, graphs, checkpoint state and epoch marks are:
	// shared by all masters.
	StorageDir string
	// Name is what the process calls itself in Status, such as "host:port".
	Name string
	// Addresses are the fixed ones by component, for type none.
	Addresses map[string]string
	// Resolve has type none resolve those at once: workers and clients want it.
	Resolve bool
	// SessionTimeout is T; 0: 10 s. The store may give another.
	SessionTimeout time.Duration
	// KeepCheckpoints is how many completed checkpoints a job keeps; 0: 3.
	KeepCheckpoints int
	// FencedRenewals makes each renewal of a leader a fenced write: for programs
	// whose effects no fence guards.
	FencedRenewals bool
	// ElectionOnly says that nothing but the election is used. StorageDir then holds
	// only the marks of used epochs, and each process may have its own.
	ElectionOnly bool
	// Options are the keys of the one type, such as "zookeeper.quorum", without
	// "high-availability.".
	Options map[string]string
	// Logger is told what happens in the background; nil: nobody is.
	Logger *slog.Logger
}

// WithDefaults returns the config with every zero replaced by its default.
func (c Config) WithDefaults() Config {
	if c.ClusterID == "" {
		c.ClusterID = "/default"
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 10 * time.Second
	}
	if c.KeepCheckpoints == 0 {
		c.KeepCheckpoints = 3
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
