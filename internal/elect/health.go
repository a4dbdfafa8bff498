package elect

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// health runs the check again and again.
type health struct {
	cfg *setup
	// environ is the check's environment now.
	environ func() []string
	// verdicts gets each one, and one that nobody has taken is replaced.
	verdicts chan verdict
}

// verdict is what a check has found: ill is why this process may not compete; nil: it
// may.
type verdict struct{ ill error }

// keep checks at once, and every interval until ctx ends. The thread is kept: the
// kernel kills a check when the thread that began it ends.
func (h *health) keep(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tick := time.NewTicker(h.cfg.HealthInterval)
	defer tick.Stop()
	for {
		now := verdict{h.check(ctx)}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-h.verdicts:
		default:
		}
		h.verdicts <- now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (h *health) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.HealthInterval)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", h.cfg.Health)
	cmd.Env = h.environ()
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	ownGroup(cmd)
	err := cmd.Start()
	if err == nil {
		h.cfg.checking.Store(int64(cmd.Process.Pid))
		err = cmd.Wait()
		h.cfg.checking.Store(0)
		reapOrphans()
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the health check took longer than %s", h.cfg.HealthInterval)
	}
	if text := strings.TrimSpace(string(said.text)); text != "" {
		return fmt.Errorf("the health check failed: %w: %s", err, text)
	}
	return fmt.Errorf("the health check failed: %w", err)
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const most = 500
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-most):]
	return len(p), nil
}
