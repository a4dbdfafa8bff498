package elect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/ha"
)

// closeWithin bounds how long leaving the store may take: without an answer the
// lock goes when the session ends.
const closeWithin = 5 * time.Second

// Run competes for the lock and runs the command, until the command has ended or a
// signal has come. The error is an [Exit], or says what is wrong with the config or
// the store.
func Run(ctx context.Context, config Config) error {
	cfg := &setup{Config: config.WithDefaults()}
	if err := cfg.Validate(); err != nil {
		return err
	}
	if _, err := exec.LookPath(cfg.Command[0]); err != nil {
		return cannotRun(cfg, notFoundCode(err), err.Error())
	}
	if err := checkFolder(cfg.HA.StorageDir); err != nil {
		return err
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &controller{cfg: cfg, verdicts: make(chan verdict, 1), quiet: quiet{log: cfg.Logger}}
	var checking sync.WaitGroup
	defer checking.Wait()
	defer cancel()
	if cfg.Health != "" {
		c.ill = errors.New("it has not been checked yet")
		checks := &health{cfg: cfg, environ: c.environ, verdicts: c.verdicts}
		checking.Go(func() { checks.keep(ctx) })
	}
	return c.run(ctx)
}

// cannotRun is how a shell says that there is no such command.
func cannotRun(cfg *setup, code int, why string) *Exit {
	name := cfg.Command[0]
	why = strings.TrimPrefix(why, "exec: ")
	if code == codeNotFound {
		return &Exit{Code: code, Why: fmt.Sprintf("command not found: %s\nname a program of PATH, or give its path; a shell's own words need sh -c '…'", why)}
	}
	return &Exit{Code: code, Why: fmt.Sprintf("cannot run %s: %s", name, why)}
}

// checkFolder finds out at once that marks of epochs cannot be kept.
func checkFolder(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".try-"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("the folder for the marks of used epochs cannot be written to: %w\nname another one with --dir", err)
	}
	return nil
}

// controller goes from one candidacy to the next. All its fields but present belong to
// one goroutine.
type controller struct {
	cfg      *setup
	verdicts chan verdict
	ill      error // why this process may not compete; nil: it may
	settled  bool  // the store has taken us once
	failures int   // short runs in a row
	quiet    quiet

	mu      sync.Mutex
	present *candidacy
}

// errAgain says that there is to be another candidacy.
var errAgain = errors.New("again")

func (c *controller) run(ctx context.Context) error {
	for {
		if err := c.awaitHealth(ctx); err != nil {
			return err
		}
		if err := c.compete(ctx); !errors.Is(err, errAgain) {
			return err
		}
	}
}

// awaitHealth waits until the process may compete.
func (c *controller) awaitHealth(ctx context.Context) error {
	for c.ill != nil {
		select {
		case v := <-c.verdicts:
			if c.ill = v.ill; c.ill != nil {
				c.quiet.say(c.ill)
			}
		case s := <-c.cfg.Signals:
			if n, end := ends(s); end {
				return &Exit{Code: 128 + n}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// compete is one candidacy.
func (c *controller) compete(ctx context.Context) error {
	services, err := c.cfg.Open(ctx, c.cfg.HA)
	if err != nil {
		return err
	}
	candidate := newCandidacy(c.cfg, services.Election(component), turn(c.cfg), c.settled)
	c.show(candidate)
	var watching sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		close(candidate.left)
		c.show(nil)
		watching.Wait()
		closing, done := context.WithTimeout(context.Background(), closeWithin)
		defer done()
		if err := services.Close(closing); err != nil {
			c.cfg.Logger.Debug("leaving the store", "error", err)
		}
	}()
	if err := candidate.election.Start(candidate); err != nil {
		return err
	}
	c.cfg.Logger.Info("competing", "lock", c.cfg.Lock, "as", c.cfg.HA.Name)
	watching.Go(func() { lookAround(ctx, services, candidate) })
	t := &tenure{controller: c, candidate: candidate}
	err = t.follow(ctx)
	c.settled = candidate.isSettled()
	if again, ok := errors.AsType[*pauseError](err); ok {
		return c.pause(ctx, again.pause)
	}
	return err
}

// turn is the file by which commands of one folder take turns, where the store does
// not wait for a timeout.
func turn(cfg *setup) string {
	if cfg.HA.Type != "embedded" {
		return ""
	}
	return filepath.Join(cfg.HA.StorageDir, "turn-"+cfg.Lock)
}

// mostLooks is how often the store is asked for the contenders.
const mostLooks = 5

// lookAround says once who leads, and settles the candidacy when the store lists it.
func lookAround(ctx context.Context, services ha.Services, candidate *candidacy) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	me, said := candidate.cfg.HA.Name, false
	for tries := 0; tries < mostLooks; {
		status, err := services.Status(ctx)
		if err == nil {
			tries++
		}
		if err == nil && !said && status.Held && status.Holder != me {
			said = true
			candidate.cfg.Logger.Info("another process leads", "lock", candidate.cfg.Lock,
				"leader", status.Holder, "epoch", uint64(status.Epoch), "since", status.Since)
		}
		if err == nil && slices.Contains(status.Contenders, me) {
			candidate.settle()
			candidate.cfg.Logger.Debug("the store lists this process", "contenders", status.Contenders)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pauseError asks for another candidacy after a pause.
type pauseError struct{ pause time.Duration }

// Error implements error.
func (*pauseError) Error() string { return errAgain.Error() }

// pause lets others have the chance.
func (c *controller) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return errAgain
		case v := <-c.verdicts:
			c.ill = v.ill
		case s := <-c.cfg.Signals:
			if n, end := ends(s); end {
				return &Exit{Code: 128 + n}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// restartPause grows with each short run, up to 30 s.
func (c *controller) restartPause(ran time.Duration) time.Duration {
	if ran > c.cfg.HA.SessionTimeout {
		c.failures = 0
	}
	upper := min(30*time.Second, 500*time.Millisecond<<min(c.failures, 6))
	c.failures++
	return upper/2 + rand.N(upper/2)
}

func (c *controller) show(candidate *candidacy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.present = candidate
}

// environ is the health check's environment: with the epoch, if the command runs.
func (c *controller) environ() []string {
	c.mu.Lock()
	present := c.present
	c.mu.Unlock()
	if present != nil {
		if r := present.running(); r != nil {
			return environ(c.cfg, r.term.Epoch)
		}
	}
	return environ(c.cfg, 0)
}
