package zookeeper

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
)

// runs is how many random schedules run: few, or by make soak LEAT_RUNS for those that
// have the most, and their part of it for others.
func runs(t *testing.T, few, of, most int) int {
	t.Helper()
	text := os.Getenv("LEAT_RUNS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("LEAT_RUNS=%s is no number above zero", text)
	}
	return max(1, n*of/most)
}

// seed is printed, and given by LEAT_SEED again.
func seed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("LEAT_SEED"), 10, 64)
	if err != nil {
		n = rand.Uint64()
	}
	t.Logf("LEAT_SEED=%d", n)
	return n
}

const component = "dispatcher"

// contenders are processes that compete for one lock.
type contenders struct {
	cluster *cluster
	names   []string
	all     []*contender
	history *history
}

// contender is one in our own process, or, with a child, in one of its own.
type contender struct {
	*hatest.Contender
	name     string
	services ha.Services
	writer   *writer
	child    *child
}

// newContenders starts n in our process, and more in processes of their own; whoever
// leads writes all the time.
func newContenders(t *testing.T, c *cluster, n, children int) *contenders {
	t.Helper()
	cs := &contenders{cluster: c, history: newHistory()}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		services := c.open(t, name, ha.Config{Name: name})
		w := &writer{services: services, note: cs.history.add}
		cs.names = append(cs.names, name)
		cs.all = append(cs.all, &contender{Contender: w.contender(), name: name, services: services, writer: w})
	}
	for i := range children {
		name := fmt.Sprintf("child%d", i)
		cs.names = append(cs.names, name)
		cs.all = append(cs.all, &contender{name: name, child: c.start(t, name)})
	}
	for _, member := range cs.all[:n] {
		member.writer.onGrant = func(g hatest.Grant) { cs.alone(t, member, g) }
		if err := member.services.Election(component).Start(member.Contender); err != nil {
			t.Fatal(err)
		}
	}
	return cs
}

// alone holds that nobody else in our process may act any more.
func (cs *contenders) alone(t *testing.T, who *contender, g hatest.Grant) {
	for _, other := range cs.all {
		if other == who || other.child != nil {
			continue
		}
		if lease, trusted := other.services.Election(component).Lease(); trusted && g.Ctx.Err() == nil {
			t.Errorf("%s leads in epoch %d while %s does in %d, for %s", who.name, g.Term.Epoch, other.name, lease.Term.Epoch, lease.Left)
		}
	}
}

// writer is what a contender does while it leads.
type writer struct {
	services ha.Services
	note     func(fact)
	onGrant  func(hatest.Grant)

	mu      sync.Mutex
	epoch   ha.Epoch
	writing sync.WaitGroup
}

func (w *writer) contender() *hatest.Contender {
	c := hatest.NewContender(w.services.Election(component))
	c.OnGrant = func(g hatest.Grant) error {
		w.note(fact{what: granted, epoch: g.Term.Epoch, at: now()})
		w.mu.Lock()
		w.epoch = g.Term.Epoch
		w.mu.Unlock()
		if w.onGrant != nil {
			w.onGrant(g)
		}
		w.writing.Go(func() { w.trust(g) })
		w.writing.Go(func() { w.write(g) })
		return nil
	}
	c.OnRevoke = func() {
		w.mu.Lock()
		epoch := w.epoch
		w.mu.Unlock()
		w.note(fact{what: revoked, epoch: epoch, at: now()})
	}
	return c
}

// trust asks all the time whether the grant can be trusted, and notes when it last was.
func (w *writer) trust(g hatest.Grant) {
	often := time.NewTicker(2 * time.Millisecond)
	defer often.Stop()
	var last time.Duration
	for at := now(); w.services.Election(component).HasLeadership(g.ID); at = now() {
		last = at
		<-often.C
	}
	w.note(fact{what: trusted, epoch: g.Term.Epoch, at: last})
}

// write sets jobs running as long as the grant lasts, and one more after it. (Unlike
// a graph, nobody brings such a record back from the storage.)
func (w *writer) write(g hatest.Grant) {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		over := g.Ctx.Err() != nil
		at := now()
		job := ha.JobID(fmt.Sprintf("%d-%d", g.Term.Epoch, n))
		// Not the grant's context: a leader that does not stop has none.
		ctx, cancel := contextFor(2 * shortTimeout)
		err := w.services.Jobs().SetRunning(ctx, g.Term, job)
		cancel()
		outcome := unknown
		switch {
		case err == nil:
			outcome = wrote
		case errors.Is(err, ha.ErrFenced) && !errors.Is(err, ha.ErrAmbiguous):
			// One that is both was applied, perhaps, before it was refused.
			outcome = refused
		}
		w.note(fact{what: outcome, epoch: g.Term.Epoch, at: at, job: job})
		if over || errors.Is(err, ha.ErrFenced) || errors.Is(err, ha.ErrClosed) {
			return
		}
		<-pace.C
	}
}

// leads says that it was granted more often than revoked.
func (c *contender) leads() bool {
	if c.child != nil {
		return c.child.leads()
	}
	granted, revoked := c.Count()
	return granted > revoked
}

// written is how many writes of all were acknowledged.
func (cs *contenders) written() int {
	n := cs.history.written()
	for _, member := range cs.all {
		if member.child == nil {
			continue
		}
		for _, f := range member.child.facts() {
			if f.what == wrote {
				n++
			}
		}
	}
	return n
}

// end waits until one leads, closes all, and holds the history against what the
// store has applied, in its order.
func (cs *contenders) end(t *testing.T) {
	t.Helper()
	for _, name := range cs.names {
		cs.cluster.process(name).heal()
	}
	cs.awaitLeader(t)
	before := cs.written()
	awaitTrue(t, "a leader writes", func() bool { return cs.written() > before })
	for _, member := range cs.all {
		member.close(t)
		if member.child == nil {
			continue
		}
		for _, f := range member.child.facts() {
			cs.history.add(f)
		}
	}
	cs.history.check(t, cs.cluster.admin)
}

func (c *contender) close(t *testing.T) {
	t.Helper()
	if c.child != nil {
		c.child.close()
		return
	}
	ctx, cancel := contextFor(2 * time.Minute)
	defer cancel()
	if err := c.services.Close(ctx); err != nil {
		t.Fatalf("close %s: %v", c.name, err)
	}
	c.writer.writing.Wait()
}

// awaitLeader waits until one leads.
func (cs *contenders) awaitLeader(t *testing.T) (leader *contender) {
	t.Helper()
	awaitTrue(t, "somebody leads", func() bool {
		for _, member := range cs.all {
			if member.leads() {
				leader = member
				return true
			}
		}
		return false
	})
	return leader
}
