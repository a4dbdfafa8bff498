package elect

import (
	"context"
	"fmt"
	"time"

	"github.com/leatdata/leat/ha"
)

// Status is who holds a lock.
type Status struct {
	Lock string `json:"lock"`
	// Held says that somebody leads: Leader, since Since by his own clock, under
	// Epoch. Otherwise these are of the last one who did, if there was one.
	Held   bool      `json:"held"`
	Leader string    `json:"leader"`
	Since  time.Time `json:"since,omitzero"`
	Epoch  uint64    `json:"epoch"`
	// Contenders are all who compete, the leader too.
	Contenders []string `json:"contenders"`
}

// Ask asks the store who holds the lock, and takes no part in the election.
func Ask(ctx context.Context, lock string, cfg ha.Config, open func(context.Context, ha.Config) (ha.Services, error)) (Status, error) {
	services, err := open(ctx, cfg)
	if err != nil {
		return Status{}, err
	}
	answer, err := services.Status(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	closeErr := services.Close(closing)
	if err == nil {
		err = closeErr
	}
	if err != nil {
		return Status{}, explain(fmt.Errorf("lock %s, %s: %w", lock, place(cfg), err))
	}
	status := Status{
		Lock: lock, Held: answer.Held, Leader: answer.Holder, Since: answer.Since,
		Epoch: uint64(answer.Epoch), Contenders: answer.Contenders,
	}
	if status.Contenders == nil {
		status.Contenders = []string{}
	}
	return status, nil
}

// place names the store.
func place(cfg ha.Config) string {
	for _, servers := range []string{"zookeeper.quorum", "etcd.endpoints"} {
		if text := cfg.Options[servers]; text != "" {
			return cfg.Type + " at " + text
		}
	}
	return cfg.Type
}
