package election_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/ha/internal/memstore"
)

// silent is a store whose answers to take-overs never come.
type silent struct{ coord.Store }

func (s silent) Open(ctx context.Context) (coord.Session, error) {
	opened, err := s.Store.Open(ctx)
	return silentSession{opened}, err
}

type silentSession struct{ coord.Session }

func (s silentSession) TakeOver(ctx context.Context, claim coord.Claim) (ha.Term, error) {
	if _, err := s.Session.TakeOver(ctx, claim); err != nil {
		return ha.Term{}, err
	}
	return ha.Term{}, ha.ErrAmbiguous
}

// noMarks remembers nothing.
type noMarks struct{}

func (noMarks) Highest(context.Context) (ha.Epoch, error) { return 0, nil }
func (noMarks) Use(context.Context, ha.Epoch) error       { return nil }

// granted passes on the terms that it is granted.
type granted chan ha.Term

func (g granted) Grant(_ context.Context, _ ha.SessionID, term ha.Term) error {
	g <- term
	return nil
}
func (granted) Revoke()     {}
func (granted) Error(error) {}

// What comes before a grant comes before every grant: also when the answer to the
// take-over was lost, or what comes before takes longer than a claim may, or fails.
func TestNobodyIsGrantedBeforeWhatComesBefore(t *testing.T) {
	const timeout = 10 * time.Second
	for name, before := range map[string]func(ctx context.Context, tries int) error{
		"at once": func(context.Context, int) error { return nil },
		"slowly": func(ctx context.Context, _ int) error {
			election.Pause(ctx, timeout*3/4)
			return ctx.Err()
		},
		"the second time": func(_ context.Context, tries int) error {
			if tries == 1 {
				return errors.New("the storage is away")
			}
			return nil
		},
	} {
		for kind, wrap := range map[string]func(coord.Store) coord.Store{
			"answered": func(s coord.Store) coord.Store { return s },
			"lost":     func(s coord.Store) coord.Store { return silent{s} },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mu sync.Mutex // one that is given up may still run while the next does
					tries, done := 0, map[ha.GrantID]bool{}
					e := election.New(election.Config{
						Store: wrap(memstore.New(timeout, timeout/4, nil).Client()), Marks: noMarks{},
						Timeout: timeout, Clock: election.Monotonic(),
						BeforeGrant: func(ctx context.Context, _ coord.Session, term ha.Term) error {
							mu.Lock()
							tries++
							n := tries
							mu.Unlock()
							err := before(ctx, n)
							mu.Lock()
							defer mu.Unlock()
							done[term.Grant] = done[term.Grant] || err == nil
							return err
						},
					})
					e.Start()
					contender := make(granted, 1)
					if err := e.Component("c").Start(contender); err != nil {
						t.Fatal(err)
					}
					term := <-contender
					synctest.Wait()
					mu.Lock()
					defer mu.Unlock()
					if !done[term.Grant] {
						t.Errorf("granted %s before what comes before, after %d tries", term, tries)
					}
					if err := e.Stop(t.Context()); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
