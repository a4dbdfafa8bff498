package zookeeper

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
)

// schedules is how many random schedules run: few, or by make soak many.
func schedules(few, many int) int {
	if n, err := strconv.Atoi(os.Getenv("LEAT_KILLS")); err == nil && n > 0 {
		return many
	}
	return few
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
	writing sync.WaitGroup

	mu sync.Mutex
	// acknowledged and refused are writes, by their jobs' names.
	acknowledged, refused map[ha.JobID]bool
	// wrote is told of writes.
	wrote chan struct{}
	// latest is the highest epoch that was granted.
	latest ha.Epoch
}

type contender struct {
	*hatest.Contender
	services ha.Services
	name     string
}

// newContenders starts some; whoever leads writes all the time.
func newContenders(t *testing.T, c *cluster, n int) *contenders {
	t.Helper()
	cs := &contenders{cluster: c, wrote: make(chan struct{}), acknowledged: map[ha.JobID]bool{}, refused: map[ha.JobID]bool{}}
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		services := c.open(t, name, ha.Config{Name: name})
		member := &contender{Contender: hatest.NewContender(services.Election(component)), services: services, name: name}
		member.OnGrant = func(g hatest.Grant) error {
			cs.granted(t, member, g)
			return nil
		}
		cs.names, cs.all = append(cs.names, name), append(cs.all, member)
	}
	for _, member := range cs.all {
		if err := member.services.Election(component).Start(member.Contender); err != nil {
			t.Fatal(err)
		}
	}
	return cs
}

// granted holds that nobody else may act any more, and that epochs grow.
func (cs *contenders) granted(t *testing.T, who *contender, g hatest.Grant) {
	for _, other := range cs.all {
		if other == who {
			continue
		}
		if lease, trusted := other.services.Election(component).Lease(); trusted && g.Ctx.Err() == nil {
			t.Errorf("%s leads in epoch %d while %s does in %d, for %s", who.name, g.Term.Epoch, other.name, lease.Term.Epoch, lease.Left)
		}
	}
	cs.mu.Lock()
	if g.Term.Epoch <= cs.latest {
		t.Errorf("%s was granted epoch %d after %d", who.name, g.Term.Epoch, cs.latest)
	}
	cs.latest = max(cs.latest, g.Term.Epoch)
	cs.mu.Unlock()
	cs.writing.Go(func() { cs.write(who, g) })
}

// write sets jobs running as long as the grant lasts, and one more after it. (Unlike
// a graph, nobody brings such a record back from the storage.)
func (cs *contenders) write(who *contender, g hatest.Grant) {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		job := ha.JobID(fmt.Sprintf("%d-%d", g.Term.Epoch, n))
		over := g.Ctx.Err() != nil
		// Not the grant's context: a leader that does not stop has none.
		ctx, cancel := contextFor(2 * shortTimeout)
		err := who.services.Jobs().SetRunning(ctx, g.Term, job)
		cancel()
		cs.mu.Lock()
		cs.acknowledged[job] = err == nil
		// One that is both was applied, perhaps, before it was refused.
		cs.refused[job] = errors.Is(err, ha.ErrFenced) && !errors.Is(err, ha.ErrAmbiguous)
		cs.mu.Unlock()
		if err == nil {
			select {
			case cs.wrote <- struct{}{}:
			default:
			}
		}
		if over || errors.Is(err, ha.ErrFenced) || errors.Is(err, ha.ErrClosed) {
			return
		}
		<-pace.C
	}
}

// end waits until one leads, closes all, and holds the history against what the
// store has applied, in its order.
func (cs *contenders) end(t *testing.T) {
	t.Helper()
	for _, name := range cs.names {
		cs.cluster.process(name).heal()
	}
	cs.awaitLeader(t)
	cs.awaitWrite(t)
	for _, member := range cs.all {
		ctx, cancel := contextFor(time.Minute)
		if err := member.services.Close(ctx); err != nil {
			t.Errorf("close %s: %v", member.name, err)
		}
		cancel()
	}
	cs.writing.Wait()
	cs.check(t)
}

// awaitLeader waits until one leads.
func (cs *contenders) awaitLeader(t *testing.T) *contender {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	for {
		for _, member := range cs.all {
			if g := member.Contender; member.services.Election(component) != nil {
				if granted, revoked := g.Count(); granted > revoked {
					return member
				}
			}
		}
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("nobody leads")
		}
	}
}

// awaitWrite waits until a leader has written.
func (cs *contenders) awaitWrite(t *testing.T) {
	t.Helper()
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	select {
	case <-cs.wrote:
	case <-limit.C:
		t.Fatal("no leader writes")
	}
	select {
	case <-cs.wrote:
	case <-limit.C:
		t.Fatal("no leader writes any more")
	}
}

type applied struct {
	job     ha.JobID
	created int64
}

// check reads what was applied: the store's order of it is the truth.
func (cs *contenders) check(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if err := cs.cluster.admin.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	names, _, err := cs.cluster.admin.Children(ctx, "/running_job_registry")
	if err != nil {
		t.Fatal(err)
	}
	var order []applied
	there := map[ha.JobID]bool{}
	for _, name := range names {
		stat, exists, err := cs.cluster.admin.Exists(ctx, "/running_job_registry/"+name)
		if err != nil || !exists {
			t.Fatalf("%s: %t, %v", name, exists, err)
		}
		order = append(order, applied{ha.JobID(name), stat.Created})
		there[ha.JobID(name)] = true
	}
	slices.SortFunc(order, func(a, b applied) int { return int(a.created - b.created) })
	last := 0
	for _, a := range order {
		text, _, _ := strings.Cut(string(a.job), "-")
		epoch, err := strconv.Atoi(text)
		if err != nil || epoch < last {
			t.Errorf("write %s was applied after one of epoch %d (%v)", a.job, last, err)
		}
		last = max(last, epoch)
	}
	for job, acknowledged := range cs.acknowledged {
		if acknowledged && !there[job] {
			t.Errorf("write %s was acknowledged and is not there", job)
		}
	}
	for job, refused := range cs.refused {
		if refused && there[job] {
			t.Errorf("write %s was refused and is there", job)
		}
	}
	if len(order) == 0 {
		t.Error("nothing was written")
	}
}
