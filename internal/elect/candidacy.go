package elect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/leatdata/leat/ha"
)

// component is the one that the process's election has.
const component = "command"

// candidacy is one time of competing: it implements ha.Contender, and runs the
// command under each grant.
type candidacy struct {
	cfg      *setup
	election ha.Election
	turn     string
	quiet    quiet
	endings  chan ending
	// fatal gets an error that trying again cannot mend.
	fatal chan error
	left  chan struct{} // closed when nobody takes endings any more

	mu      sync.Mutex
	leaving bool
	current *run
	// settled: the store has taken us, so that what it refuses now may pass.
	settled bool
}

func newCandidacy(cfg *setup, election ha.Election, turn string, settled bool) *candidacy {
	return &candidacy{
		cfg: cfg, election: election, turn: turn, settled: settled, quiet: quiet{log: cfg.Logger},
		endings: make(chan ending), fatal: make(chan error, 1), left: make(chan struct{}),
	}
}

// Grant implements ha.Contender: it runs the command.
func (c *candidacy) Grant(ctx context.Context, _ ha.SessionID, term ha.Term) error {
	r := newRun(c.cfg, term, c.election.Lease)
	if !c.begin(r) {
		return nil
	}
	c.cfg.Logger.Info("this process leads", "lock", c.cfg.Lock, "epoch", uint64(term.Epoch))
	result := r.serve(ctx, environ(c.cfg, term.Epoch), c.turn)
	select {
	case c.endings <- result:
	case <-c.left:
	}
	if result.lost && ctx.Err() == nil {
		return errors.New(result.why) // the command has ended, and the lock has to go
	}
	return nil
}

// Revoke implements ha.Contender: nothing of the command is left by now.
func (c *candidacy) Revoke() {
	c.cfg.Logger.Info("this process does not lead any more", "lock", c.cfg.Lock)
}

// Error implements ha.Contender.
func (c *candidacy) Error(err error) {
	c.mu.Lock()
	settled := c.settled
	c.mu.Unlock()
	if !settled && ha.Fatal(err) {
		select {
		case c.fatal <- err:
		default:
		}
		return
	}
	c.quiet.say(err)
}

func (c *candidacy) begin(r *run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return false
	}
	c.current, c.settled = r, true
	return true
}

func (c *candidacy) isSettled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled
}

// settle says that the store has taken us.
func (c *candidacy) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = true
}

// leave starts nothing more. It returns what runs; nil: nothing does.
func (c *candidacy) leave() *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	return c.current
}

// took says that a run's ending was taken: what runs has not ended for whoever
// takes them.
func (c *candidacy) took(e ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == e.of {
		c.current = nil
	}
}

// running returns what runs.
func (c *candidacy) running() *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// environ is the command's environment; epoch 0: this process does not lead.
func environ(cfg *setup, epoch ha.Epoch) []string {
	all := slices.DeleteFunc(slices.Clone(cfg.Environ), func(v string) bool {
		return strings.HasPrefix(v, EnvEpoch+"=") || strings.HasPrefix(v, EnvLock+"=")
	})
	all = append(all, EnvLock+"="+cfg.Lock)
	if epoch != 0 {
		all = append(all, EnvEpoch+"="+strconv.FormatUint(uint64(epoch), 10))
	}
	return all
}

// explain adds to an error what can be done about it.
func explain(err error) error {
	switch {
	case errors.Is(err, ha.ErrForbidden):
		return fmt.Errorf("%w\nthe store refuses us: check user and password (high-availability.zookeeper.client.digest, "+
			"high-availability.etcd.client.user) and who may use the path in --store", err)
	case errors.Is(err, ha.ErrCorrupt):
		return fmt.Errorf("%w\nsomebody else has written there: use another path in --store, or another lock", err)
	case errors.Is(err, ha.ErrUnavailable):
		return fmt.Errorf("%w\ncheck that the servers in --store are right, and that most of them run", err)
	}
	return err
}
