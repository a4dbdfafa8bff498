package mysql

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Sink writes to one table of a MariaDB or MySQL database.
type Sink struct {
	options  SinkOptions
	log      *slog.Logger
	fail     func(string)
	sessions *sessions
	evictor  *evictor
	crowd    *database.Crowd
	rules    breakRules

	mu sync.Mutex
	in *batch.Schema
	// target is what Resolve found; Prepare replaces it once the table is there.
	target *target
	// refused says that the server has refused LOAD DATA LOCAL.
	refused bool
}

// newSink returns the sink of these options; it does not connect.
func newSink(options *SinkOptions, env connector.SinkEnv) (*Sink, error) {
	config, err := parseURL(options.URL)
	if err != nil {
		return nil, err
	}
	pool, err := newSessions(config, writerSettings, writerAccess)
	if err != nil {
		return nil, err
	}
	k := &Sink{options: *options, log: env.Log, fail: env.Failpoint, sessions: pool, crowd: database.NewCrowd(), rules: brokenRules()}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	if k.fail == nil {
		k.fail = func(string) {}
	}
	k.evictor = &evictor{Evictor: database.Evictor{Log: k.log, Patience: database.Patience}, sessions: k.sessions}
	return k, nil
}

// Resolve implements connector.Sink.
func (k *Sink) Resolve(ctx context.Context, in *batch.Schema) (*connector.Plan, error) {
	var t *target
	err := k.sessions.with(ctx, func(s *session) (err error) {
		t, err = k.resolve(ctx, s, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.in, k.target = in, t
	k.mu.Unlock()
	plan := &connector.Plan{
		Schema: t.schema, Guarantee: connector.WithPosition, Creates: t.relation == nil, Empties: k.options.Mode == database.Truncate,
		Statements: k.statements(t), Doubts: append(t.doubts, k.againDoubts()...),
	}
	if !t.exact() {
		plan.Guarantee = connector.AtLeastOnce
	}
	return plan, nil
}

// Describe implements connector.Describer.
func (k *Sink) Describe(context.Context) ([]string, error) {
	t, err := k.current()
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("server: %s", t.server), "rows: " + t.way}, nil
}

// current returns what Resolve found.
func (k *Sink) current() (*target, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.target == nil {
		return nil, connector.Errorf(connector.Permanent, "the sink was not resolved")
	}
	return k.target, nil
}

// loads reports whether rows go by LOAD DATA LOCAL.
func (k *Sink) loads(t *target) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return t.loads && !k.refused
}

// refusedLocal notes that the server does not take LOAD DATA LOCAL.
func (k *Sink) refusedLocal(err error) {
	k.mu.Lock()
	told := k.refused
	k.refused = true
	k.mu.Unlock()
	if !told {
		k.log.Warn("the server refuses LOAD DATA LOCAL; rows go by INSERT", "error", err)
	}
}

// refusesLocal reports whether an error is a server's, or its administrator's,
// refusal of LOAD DATA LOCAL.
func refusesLocal(err error) bool {
	switch numberOf(err) {
	case errNotAllowed, errLocalDisabled, errLocalForbidden:
		return true
	}
	return false
}

// Register implements connector.Sink.
func (k *Sink) Register(ctx context.Context, run connector.Run, splits []connector.Split) error {
	t, err := k.current()
	if err != nil || t.ledger == nil {
		return err
	}
	return k.sessions.with(ctx, func(s *session) error {
		l := t.ledger
		return wrap("register splits for "+t.name.String(), k.locked(ctx, s, l.runLock(run.ID), func() error {
			return s.transact(ctx, func() error {
				m, err := l.Lock(ctx, s, run.ID)
				if err != nil {
					return err
				}
				if err := l.Takes(m, run.ID); err != nil {
					return err
				}
				// Else new rows would hide that the old ones are gone.
				if err := l.CheckPositions(ctx, s, m); err != nil {
					return err
				}
				return l.Register(ctx, s, run.ID, splits)
			})
		}))
	})
}

// Claim implements connector.Sink. A claim that waits for long ends who holds
// the split's row: a writer of an older attempt (exactness rule 2).
func (k *Sink) Claim(ctx context.Context, attempt connector.Attempt) (connector.Writer, connector.SplitState, error) {
	t, err := k.current()
	if err != nil {
		return nil, connector.SplitState{}, err
	}
	k.fail("before-claim")
	s, err := k.sessions.get(ctx)
	if err != nil {
		return nil, connector.SplitState{}, err
	}
	w, state, err := k.claim(ctx, s, t, attempt)
	if err != nil || w == nil {
		k.sessions.put(s)
		return nil, state, err
	}
	k.fail("after-claim")
	return w, state, nil
}

func (k *Sink) claim(ctx context.Context, s *session, t *target, attempt connector.Attempt) (*writer, connector.SplitState, error) {
	doing := "claim a split of " + t.name.String()
	state := attempt.State
	if t.ledger != nil {
		claimed, err := k.claimRow(ctx, s, t.ledger, attempt)
		if err != nil {
			return nil, connector.SplitState{}, wrap(doing, err)
		}
		if !k.rules.IgnorePosition {
			state = claimed
		}
	}
	if state.Done {
		return nil, state, nil
	}
	if t.columns == nil {
		return nil, state, connector.Errorf(connector.Permanent, "%s: the target was not prepared", doing)
	}
	w := newWriter(k, s, t, attempt, state)
	if w.upsert != nil {
		if err := w.upsert.prepare(ctx, s); err != nil {
			return nil, state, wrap(doing, err)
		}
	}
	return w, state, nil
}

// claimRow claims the split's row. The update waits for who holds the row even
// where its token is too old, so that this is looked at before, and again
// before anybody is ended.
func (k *Sink) claimRow(ctx context.Context, s *session, l *ledger, a connector.Attempt) (state connector.SplitState, err error) {
	if !l.Rules.ClaimByInsert {
		state, err = l.Read(ctx, s, a.Run.ID, a.Split.ID)
		switch {
		case err != nil:
			return state, err
		case state.Token == a.Token:
			return state, nil
		case state.Token > a.Token:
			return state, connector.TakenElsewhere(a.Run.ID, a.Split.ID, state.Token)
		}
	}
	w := wait{
		locks: []string{l.splitLock(a.Run.ID, a.Split.ID), l.runLock(a.Run.ID)},
		still: func(ctx context.Context, s *session) (bool, error) {
			state, err := l.Read(ctx, s, a.Run.ID, a.Split.ID)
			return err == nil && state.Token <= a.Token, nil
		},
	}
	err = k.evictor.during(ctx, s, w, func() error {
		state, err = l.claim(ctx, s, a.Run.ID, a.Split.ID, a.Token)
		return err
	})
	return state, err
}

// States implements connector.Sink.
func (k *Sink) States(ctx context.Context, run connector.Run) (states []connector.SplitState, err error) {
	t, err := k.current()
	if err != nil || !t.exact() {
		return nil, err
	}
	err = k.sessions.with(ctx, func(s *session) error {
		states, err = t.ledger.Known(ctx, s, run.ID)
		return err
	})
	return states, err
}

// apart runs f in a session of its own.
func (k *Sink) apart(ctx context.Context, f func(database.Session) error) error {
	return k.sessions.with(ctx, func(s *session) error { return f(s) })
}

// Close implements connector.Sink.
func (k *Sink) Close() error {
	k.sessions.close()
	return nil
}
