package election

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// leaderRecord is what stands in leader/NAME_lock.
type leaderRecord struct {
	Address string       `json:"address"`
	Session ha.SessionID `json:"session"`
	Epoch   ha.Epoch     `json:"epoch"`
}

// LeaderKey is where a component's leader is published.
func LeaderKey(component string) coord.Key {
	return coord.Key{Folder: coord.Leader, Name: coord.Escape(component) + "_lock"}
}

// DecodeLeader reads what stands there.
func DecodeLeader(r coord.Record) (ha.Leader, error) {
	var l leaderRecord
	if err := json.Unmarshal(r.Value, &l); err != nil {
		return ha.Leader{}, fmt.Errorf("leader record %s holds %.60q: %w", r.Key, r.Value, ha.ErrCorrupt)
	}
	return ha.Leader(l), nil
}

// Confirm implements ha.Election.
func (c *Component) Confirm(id ha.SessionID, address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.serving == nil || id != c.id || c.ctx.Err() != nil || c.address != "" {
		return
	}
	c.address = address
	value, err := json.Marshal(leaderRecord{Address: address, Session: id, Epoch: c.serving.term.Epoch})
	if err != nil {
		panic(err) // strings and a number
	}
	p := publication{c: c, term: c.serving.term, key: LeaderKey(c.name), value: value}
	ctx, grant := c.ctx, c.serving.ctx
	c.e.work.Go(func() {
		p.keep(ctx)
		if grant.Err() == nil {
			p.withdraw(grant) // the component has left, the process leads on
		}
	})
}

// publication is a component's leader record.
type publication struct {
	c     *Component
	term  ha.Term
	key   coord.Key
	value []byte
}

// keep publishes, and again when somebody else has changed it, until ctx ends.
func (p publication) keep(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		link, err := p.c.e.Link(ctx)
		if err != nil {
			return
		}
		err = p.hold(ctx, link)
		if refusal, ok := errors.AsType[*ha.FencedError](err); ok {
			p.c.e.Refused(refusal)
			return
		}
		if err != nil && ctx.Err() == nil {
			p.c.e.report("publish "+p.key.String(), err)
		}
		Pause(ctx, Backoff(failures))
	}
}

// hold publishes through one session, as long as that lasts.
func (p publication) hold(ctx context.Context, link *Link) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(link.Gone, cancel)()
	changes, err := link.Session.Watch(ctx, p.key)
	if err != nil {
		return err
	}
	if err := link.Session.Publish(ctx, p.term, p.key, p.value); err != nil {
		return err
	}
	for range changes {
		now, err := link.Session.Get(ctx, p.key)
		if err == nil && bytes.Equal(now.Value, p.value) {
			continue
		}
		if err != nil && !errors.Is(err, ha.ErrNotFound) {
			return err
		}
		if err := link.Session.Publish(ctx, p.term, p.key, p.value); err != nil {
			return err
		}
	}
	return nil
}

func (p publication) withdraw(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		link, err := p.c.e.Link(ctx)
		if err != nil {
			return
		}
		if err = link.Session.Withdraw(ctx, p.key); err == nil {
			return
		}
		p.c.e.report("withdraw "+p.key.String(), err)
		Pause(ctx, Backoff(failures))
	}
}

// announce lists the process among the contenders, while it competes.
func (e *Elector) announce(link *Link) {
	key := coord.Key{Folder: coord.Contenders, Name: e.instance}
	for failures, listed := 0, false; ; {
		e.mu.Lock()
		competing, changed := e.view.competing, e.changed
		e.mu.Unlock()
		var err error
		if competing && !listed {
			err = link.Session.Publish(link.Gone, ha.Term{}, key, []byte(e.cfg.Name))
		} else if !competing && listed {
			err = link.Session.Withdraw(link.Gone, key)
		}
		if err != nil {
			Pause(link.Gone, Backoff(failures))
			failures++
		} else {
			failures, listed = 0, competing
		}
		if err == nil {
			select {
			case <-changed:
			case <-link.Gone.Done():
			}
		}
		if link.Gone.Err() != nil {
			return
		}
	}
}

// Backoff draws the wait after some failures in a row: jittered, capped at 1 s.
func Backoff(failures int) time.Duration {
	upper := min(time.Second, 50*time.Millisecond<<min(failures, 5))
	return upper/8 + time.Duration(rand.Float64()*float64(upper))
}

// Pause waits, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
