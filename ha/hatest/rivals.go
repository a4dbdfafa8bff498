package hatest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

// Rivals are processes that compete for one lock while faults happen to them. Who
// leads writes all the time, and once more when it should not any more; End holds
// what the store has applied against the order of epochs.
type Rivals struct {
	world   *World
	all     []*rival
	writing sync.WaitGroup

	mu sync.Mutex
	// acknowledged and refused are writes, by their jobs' names.
	acknowledged, refused map[ha.JobID]bool
	// wrote is told of writes.
	wrote chan struct{}
	// latest is the highest epoch that was granted.
	latest ha.Epoch
}

type rival struct {
	*Contender
	services ha.Services
	name     string
}

// NewRivals opens processes p0, p1 and so on.
func NewRivals(t *testing.T, w *World, n int) *Rivals {
	t.Helper()
	r := &Rivals{world: w, wrote: make(chan struct{}), acknowledged: map[ha.JobID]bool{}, refused: map[ha.JobID]bool{}}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		services := w.Open(t, name, ha.Config{Name: name})
		one := &rival{Contender: NewContender(services.Election(component)), services: services, name: name}
		one.OnGrant = func(g Grant) error {
			r.granted(t, one, g)
			return nil
		}
		r.all = append(r.all, one)
	}
	for _, one := range r.all {
		if err := one.services.Election(component).Start(one.Contender); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Names are the processes'.
func (r *Rivals) Names() []string {
	var names []string
	for _, one := range r.all {
		names = append(names, one.name)
	}
	return names
}

// granted holds that nobody else may act any more, and that epochs grow.
func (r *Rivals) granted(t *testing.T, who *rival, g Grant) {
	for _, other := range r.all {
		if other == who {
			continue
		}
		if lease, trusted := other.services.Election(component).Lease(); trusted && g.Ctx.Err() == nil {
			t.Errorf("%s leads in epoch %d while %s does in %d, for %s", who.name, g.Term.Epoch, other.name, lease.Term.Epoch, lease.Left)
		}
	}
	r.mu.Lock()
	if g.Term.Epoch <= r.latest {
		t.Errorf("%s was granted epoch %d after %d", who.name, g.Term.Epoch, r.latest)
	}
	r.latest = max(r.latest, g.Term.Epoch)
	r.mu.Unlock()
	r.writing.Go(func() { r.write(who, g) })
}

// write sets jobs running as long as the grant lasts, and one more after it. (Unlike
// a graph, nobody brings such a record back from the storage.)
func (r *Rivals) write(who *rival, g Grant) {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		job := ha.JobID(fmt.Sprintf("%d-%d", g.Term.Epoch, n))
		over := g.Ctx.Err() != nil
		// Not the grant's context: a leader that does not stop has none.
		ctx, cancel := context.WithTimeout(context.Background(), 2*r.world.Timeout)
		err := who.services.Jobs().SetRunning(ctx, g.Term, job)
		cancel()
		r.mu.Lock()
		r.acknowledged[job] = err == nil
		// One that is both was applied, perhaps, before it was refused.
		r.refused[job] = errors.Is(err, ha.ErrFenced) && !errors.Is(err, ha.ErrAmbiguous)
		r.mu.Unlock()
		if err == nil {
			select {
			case r.wrote <- struct{}{}:
			default:
			}
		}
		if over || errors.Is(err, ha.ErrFenced) || errors.Is(err, ha.ErrClosed) {
			return
		}
		<-pace.C
	}
}

// AwaitLeader waits until one leads, and returns its name.
func (r *Rivals) AwaitLeader(t *testing.T) string {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		for _, one := range r.all {
			if granted, revoked := one.Count(); granted > revoked {
				return one.name
			}
		}
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("nobody leads")
		}
	}
}

// End waits until one leads and writes, closes all, and holds the history against
// what the store has applied: the names of the records below running_job_registry,
// in the order in which they were made. All faults are over by now.
func (r *Rivals) End(t *testing.T, applied func() ([]string, error)) {
	t.Helper()
	r.AwaitLeader(t)
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for range 2 {
		select {
		case <-r.wrote:
		case <-limit.C:
			t.Fatal("no leader writes")
		}
	}
	for _, one := range r.all {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := one.services.Close(ctx); err != nil {
			t.Errorf("close %s: %v", one.name, err)
		}
		cancel()
	}
	r.writing.Wait()
	order, err := applied()
	if err != nil {
		t.Fatal(err)
	}
	r.check(t, order)
}

// check takes the store's order for the truth.
func (r *Rivals) check(t *testing.T, order []string) {
	t.Helper()
	if len(order) == 0 {
		t.Error("nothing was written")
	}
	there := map[ha.JobID]bool{}
	last := 0
	for _, name := range order {
		there[ha.JobID(name)] = true
		text, _, _ := strings.Cut(name, "-")
		epoch, err := strconv.Atoi(text)
		if err != nil || epoch < last {
			t.Errorf("write %s was applied after one of epoch %d (%v)", name, last, err)
		}
		last = max(last, epoch)
	}
	for job, acknowledged := range r.acknowledged {
		if acknowledged && !there[job] {
			t.Errorf("write %s was acknowledged and is not there", job)
		}
	}
	for job, refused := range r.refused {
		if refused && there[job] {
			t.Errorf("write %s was refused and is there", job)
		}
	}
}
