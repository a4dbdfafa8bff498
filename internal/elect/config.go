package elect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/leatdata/leat/ha"
)

// The variables of the command's environment.
const (
	// EnvEpoch is the number of the grant that the command runs under: it only
	// grows, so that what the command writes to can refuse an older one.
	EnvEpoch = "LEAT_EPOCH"
	// EnvLock is the lock's name.
	EnvLock = "LEAT_LOCK"
)

// Config is what is run, and on which lock.
type Config struct {
	// Lock names what is competed for.
	Lock string
	// Command is the program and its arguments.
	Command []string
	// Restart competes again when the command has ended by itself.
	Restart bool
	// Health is a shell command that says by its exit code whether this process may
	// compete; empty: it always may. It is run every HealthInterval, which is also
	// how long it may take; 0: 5 s.
	Health         string
	HealthInterval time.Duration
	// Grace is how long a command that is to stop, but for lack of renewals, has
	// between TERM and KILL; 0: 10 s.
	Grace time.Duration
	// HA says where the election is; Open makes services of it.
	HA   ha.Config
	Open func(ctx context.Context, cfg ha.Config) (ha.Services, error)
	// Signals are passed on to the command. What ends a process ends the candidacy.
	Signals <-chan os.Signal
	// Environ and the streams are the command's.
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Logger is told what happens; nil: nobody is.
	Logger *slog.Logger
}

// setup is a Config with what its processes share.
type setup struct {
	Config
	// checking is the health check's process; 0: none runs.
	checking atomic.Int64
}

// WithDefaults returns the config with every zero replaced by its default.
func (c Config) WithDefaults() Config {
	if c.HealthInterval == 0 {
		c.HealthInterval = 5 * time.Second
	}
	if c.Grace == 0 {
		c.Grace = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all that is wrong with the config.
func (c Config) Validate() error {
	errs := []error{CheckLock(c.Lock)}
	if len(c.Command) == 0 {
		errs = append(errs, errors.New("there is no command: put it behind --, as in leat elect --lock NAME --store URL -- COMMAND"))
	}
	if c.HealthInterval < 0 || c.Grace < 0 {
		errs = append(errs, errors.New("the health check's interval and the grace must not be negative"))
	}
	return errors.Join(errs...)
}

// CheckLock says whether a text can be a lock's name.
func CheckLock(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case name == "":
		return errors.New("the lock has no name: give it with --lock NAME")
	case name[0] == '.', strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }):
		return fmt.Errorf("--lock %q: a lock's name has letters, digits, '.', '_' and '-', and does not begin with '.'", name)
	}
	return nil
}

// Exit is how a process ends whose command has ended, or cannot be run.
type Exit struct {
	// Code is the process's exit code: the command's own, 128 + n of a signal n, 127
	// where there is no such command, 126 where it may not be run.
	Code int
	// Why is what is to be said of it, if anything.
	Why string
}

// Error implements error.
func (e *Exit) Error() string { return e.Why }
