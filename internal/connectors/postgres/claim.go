package postgres

import (
	"context"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

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
		s.rollback(ctx)
		k.sessions.put(s)
		return nil, state, err
	}
	k.fail("after-claim")
	return w, state, nil
}

func (k *Sink) claim(ctx context.Context, s *session, t *target, attempt connector.Attempt) (*writer, connector.SplitState, error) {
	l := t.ledger
	var state connector.SplitState
	doing := "claim a split of " + t.name.String()
	err := s.transactAs(ctx, joinSQL("BEGIN", setLocal("lock_timeout", lockTimeout)), func() error {
		return k.evictor.during(ctx, s, func() (err error) {
			state, err = l.claim(ctx, s, attempt.Run.ID, attempt.Split.ID, attempt.Token)
			return err
		})
	})
	if err != nil {
		return nil, connector.SplitState{}, wrap(doing, err)
	}
	if k.rules.IgnorePosition {
		state = attempt.State
	}
	if state.Done {
		return nil, state, nil
	}
	if t.columns == nil {
		return nil, state, connector.Errorf(connector.Permanent, "%s: the target was not prepared", doing)
	}
	w := newWriter(k, s, l, t, attempt, state)
	if k.options.Mode == database.Upsert {
		err = w.upsert.prepare(ctx, s)
	}
	if err != nil {
		return nil, state, wrap(doing, err)
	}
	return w, state, nil
}
