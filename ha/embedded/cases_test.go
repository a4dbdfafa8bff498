package embedded

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/ha/internal/memstore"
	"github.com/leatdata/leat/ha/internal/services"
)

// inBubble runs a test on a server in memory.
func inBubble(t *testing.T, test func(t *testing.T, s *Server)) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{}
		s.store, s.blobs = open(ha.Config{SessionTimeout: timeout}.WithDefaults())
		test(t, s)
	})
}

func (s *Server) process(name string) (ha.Services, *memstore.Client) {
	client := s.store.Client()
	return s.services(ha.Config{Name: name, SessionTimeout: timeout}.WithDefaults(), client), client
}

// Case: contenders delete and create nodes for ever. Flaps of the connection that
// are shorter than T/2 open no session, longer ones one each, and a leader is
// there within a second after the last.
func TestFlapsConverge(t *testing.T) {
	for name, c := range map[string]struct {
		cut   time.Duration
		opens int
	}{"short": {timeout / 4, 1}, "long": {2 * timeout, 101}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *Server) {
				var clients []*memstore.Client
				var contenders []*hatest.Contender
				for _, name := range []string{"a", "b", "c"} {
					services, client := s.process(name)
					defer func() { _ = services.Close(context.WithoutCancel(t.Context())) }()
					contender := hatest.NewContender(services.Election("x"))
					if err := services.Election("x").Start(contender); err != nil {
						t.Fatal(err)
					}
					clients, contenders = append(clients, client), append(contenders, contender)
				}
				for range 100 {
					for _, client := range clients {
						client.Cut()
					}
					elapse(c.cut)
					for _, client := range clients {
						client.Heal()
					}
					elapse(timeout)
				}
				for _, client := range clients {
					if opens := client.Opens(); opens > c.opens {
						t.Errorf("%d sessions opened in 100 flaps", opens)
					}
				}
				leaders := 0
				for _, contender := range contenders {
					if granted, revoked := contender.Count(); granted > revoked {
						leaders++
					}
				}
				if leaders != 1 {
					t.Errorf("%d leaders", leaders)
				}
			})
		})
	}
}

func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// jumpingClock counts a machine's suspension, which timers do not.
type jumpingClock struct {
	election.Clock
	jump atomic.Int64
}

func (c *jumpingClock) Now() time.Duration { return c.Clock.Now() + time.Duration(c.jump.Load()) }

// A leader's machine was suspended: leadership is over at once, by the clock, and the
// grant's context ends at most T/6 after the machine wakes.
func TestASuspendedMachineDoesNotLead(t *testing.T) {
	for phase := time.Duration(0); phase < timeout; phase += timeout / 20 {
		inBubble(t, func(t *testing.T, s *Server) {
			clock := &jumpingClock{Clock: election.Monotonic()}
			svc := services.New(services.Config{
				Config: ha.Config{Name: "a", SessionTimeout: timeout}.WithDefaults(),
				Store:  s.store.Client(), Blobs: s.blobs, Clock: clock,
			})
			c := hatest.NewContender(svc.Election("x"))
			if err := svc.Election("x").Start(c); err != nil {
				t.Fatal(err)
			}
			g := c.Leads(t)
			elapse(phase)
			clock.jump.Store(int64(timeout))
			woken := time.Now()
			if _, trusted := svc.Election("x").Lease(); trusted || svc.Election("x").HasLeadership(g.ID) {
				t.Error("it leads after its machine was suspended")
			}
			<-g.Ctx.Done()
			if late := time.Since(woken); late > timeout/6 {
				t.Errorf("at phase %s the context ended %s after the machine woke", phase, late)
			}
			if err := svc.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Case: leaks per finished job. 1,000 starts and stops of everything leave no
// goroutine (a bubble with one fails), session, watch or record.
func TestThousandCyclesLeaveNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		var base int
		for i := range 1000 {
			services, _ := s.process("a")
			c := hatest.NewContender(services.Election("dispatcher"))
			if err := services.Election("dispatcher").Start(c); err != nil {
				t.Fatal(err)
			}
			l, r := &hatest.Listener{}, services.Retrieval("dispatcher")
			if err := r.Start(l); err != nil {
				t.Fatal(err)
			}
			g := c.Leads(t)
			services.Election("dispatcher").Confirm(g.ID, "a:1")
			l.Hears(t, "the leader", func(leader ha.Leader) bool { return leader.Address == "a:1" })
			if err := errors.Join(
				services.JobGraphs().Put(t.Context(), g.Term, "j", []byte("graph")),
				services.Checkpoints("j").Add(t.Context(), g.Term, ha.Checkpoint{ID: 1}),
				services.Jobs().SetRunning(t.Context(), g.Term, "j"),
				services.Jobs().Finish(t.Context(), g.Term, "j", nil),
				services.JobGraphs().Remove(t.Context(), g.Term, "j"),
				services.Checkpoints("j").Discard(t.Context(), g.Term),
				services.Jobs().SetClean(t.Context(), g.Term, "j"),
				services.Jobs().Forget(t.Context(), g.Term, "j"),
				services.Close(t.Context()),
			); err != nil {
				t.Fatal(err)
			}
			records, sessions, watches := s.store.Stats()
			if i == 0 {
				base = records
			}
			if records != base || sessions+watches != 0 {
				t.Fatalf("after %d cycles: %d records, %d sessions, %d watches", i+1, records, sessions, watches)
			}
		}
		for _, folder := range []string{"checkpoints", "checkpoint-counter", "jobgraphs", "results", "mirrors"} {
			if blobs, err := s.blobs.List(t.Context(), folder); err != nil || len(blobs) > 0 {
				t.Errorf("left over: %+v, %v", blobs, err)
			}
		}
	})
}

// Watches are in proportion to components, not to jobs.
func TestWatchesDoNotGrowWithJobs(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		services, _ := s.process("a")
		c := hatest.NewContender(services.Election("dispatcher"))
		if err := services.Election("dispatcher").Start(c); err != nil {
			t.Fatal(err)
		}
		g := c.Leads(t)
		services.Election("dispatcher").Confirm(g.ID, "a:1")
		synctest.Wait()
		_, _, before := s.store.Stats()
		for i := range 100 {
			job := ha.JobID(rune('a' + i))
			if err := errors.Join(
				services.JobGraphs().Put(t.Context(), g.Term, job, []byte("graph")),
				services.Checkpoints(job).Add(t.Context(), g.Term, ha.Checkpoint{ID: 1}),
				services.Jobs().SetRunning(t.Context(), g.Term, job),
			); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, after := s.store.Stats(); after != before || after != 1 {
			t.Errorf("%d watches, before the jobs %d", after, before)
		}
		if err := services.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Two processes of one machine share a folder: the second leads when the first
// has gone, with a higher epoch, and finds what the first has stored.
func TestProcessesTakeTurnsOnAFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		start := func(name string) (ha.Services, *hatest.Contender) {
			services, err := New(t.Context(), ha.Config{Name: name, StorageDir: dir, SessionTimeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			c := hatest.NewContender(services.Election("x"))
			if err := services.Election("x").Start(c); err != nil {
				t.Fatal(err)
			}
			return services, c
		}
		a, ca := start("a")
		old := ca.Leads(t).Term
		if err := a.JobGraphs().Put(t.Context(), old, "j", []byte("graph")); err != nil {
			t.Fatal(err)
		}
		b, cb := start("b")
		elapse(5 * timeout)
		if granted, _ := cb.Count(); granted != 0 {
			t.Error("both lead")
		}
		// Who waits knows who has the folder.
		status, err := b.Status(t.Context())
		if err != nil || !status.Held || status.Holder != "a" || status.Epoch != old.Epoch {
			t.Errorf("status %+v, %v", status, err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		closed := time.Now()
		if now := cb.Leads(t).Term; now.Epoch <= old.Epoch {
			t.Errorf("epoch %d after %d", now.Epoch, old.Epoch)
		}
		if took := time.Since(closed); took > time.Second {
			t.Errorf("took over after %s", took)
		}
		if graph, err := b.JobGraphs().Recover(t.Context(), "j"); err != nil || string(graph) != "graph" {
			t.Errorf("graph %q, %v", graph, err)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What is only an election leaves a few marks of epochs, and nothing else, so that
// each process may have a folder of its own.
func TestElectionOnlyKeepsMarksOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &Server{}
		for range 40 {
			services, err := server.Factory(t.Context(), ha.Config{SessionTimeout: timeout, ElectionOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			c := hatest.NewContender(services.Election("x"))
			if err := services.Election("x").Start(c); err != nil {
				t.Fatal(err)
			}
			c.Leads(t)
			if err := services.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		marks, err := server.blobs.List(t.Context(), "epoch")
		if err != nil || len(marks) < 2 || len(marks) > 20 {
			t.Errorf("%d marks, %v", len(marks), err)
		}
		if others, err := server.blobs.List(t.Context(), "cluster"); err != nil || len(others) > 0 {
			t.Errorf("beside them %v, %v", others, err)
		}
	})
}

// A custom factory, registered by name, passes the same contract as any other.
func TestContractOfACustomFactory(t *testing.T) {
	hatest.Run(t, hatest.Suite{
		World: func(*testing.T) *hatest.World {
			shared := &Server{}
			registry := ha.Registry{"our own": func(ctx context.Context, cfg ha.Config) (ha.Services, error) {
				cfg.Type = "embedded"
				return shared.Factory(ctx, cfg)
			}}
			return &hatest.World{
				Timeout: timeout, Slack: 10 * time.Millisecond,
				Open: func(t *testing.T, _ string, cfg ha.Config) ha.Services {
					cfg.Type, cfg.SessionTimeout = "our own", timeout
					services, err := registry.Open(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					return services
				},
			}
		},
		Bubble: synctest.Test,
	})
}

func TestUnknownTypeNamesTheOthers(t *testing.T) {
	_, err := ha.Registry{"embedded": New}.Open(t.Context(), ha.Config{Type: "consul"})
	if !errors.Is(err, ha.ErrConfig) || err.Error() != `high-availability.type: no factory is called "consul", there are: embedded: bad configuration` {
		t.Error(err)
	}
}
