package heartbeat

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lossy loses one beat in a hundred, and delays the others by up to 200 ms. Its
// faults are the same in every run.
type lossy struct {
	*world
	random *rand.Rand
	cut    bool
	lost   atomic.Int64
	to     func()
}

func newLossy(w *world, i uint64, to func()) *lossy {
	return &lossy{world: w, random: rand.New(rand.NewPCG(20261201, i)), to: to}
}

// Send implements Target. It is called on one loop.
func (l *lossy) Send(Beat[string]) error {
	lost, jitter := l.random.IntN(100) == 0, time.Duration(l.random.Int64N(int64(200*time.Millisecond)))
	if lost || l.cut {
		l.lost.Add(1)
		return nil
	}
	l.after(jitter, l.to)
	return nil
}

// 1,000 workers for half an hour, with 1 % of the heartbeats lost each way, 200 ms
// of jitter, and everybody, the master too, standing still for 2 s about once per
// minute: nobody is lost, on either side. Then three die, and are found.
//
// A worker is lost for good reason when four requests in a row, or their answers,
// are lost and the fifth answer comes with more jitter than the last: by these
// figures in one such half hour of seventy. Which are lost is fixed, so that the
// test ends alike each time.
func TestNoFalseDeathOnALossyNetwork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const workers = 1000
		s, theirs := start(t, Config{}), unstarted(t, Config{})
		// A thousand workers' services in one look ten times more seldom: a second late.
		theirs.tickEvery = int64(time.Second)
		if err := theirs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(theirs.Stop)
		sender, master := newActive(t, s, "master")
		world := newWorld(t)
		var villagers []*villager
		var lines []*lossy
		for i := range workers {
			id, v := name(i), &villager{world: world}
			var err error
			if v.manager, err = NewManager(theirs, id, Listener[string, string](v), v.run); err != nil {
				t.Fatal(err)
			}
			request := newLossy(world, uint64(2*i), func() {
				v.turn(func() { v.manager.Receive(Beat[string]{From: "master", Request: true}) })
			})
			answer := newLossy(world, uint64(2*i+1), func() {
				master.run(func() { sender.Receive(Beat[string]{From: id}) })
			})
			villagers, lines = append(villagers, v), append(lines, request, answer)
			monitor(t, sender.Manager, id, request)
			monitor(t, v.manager, "master", answer)
		}
		pauses := rand.New(rand.NewPCG(20261201, 1<<32))
		for second := range 30 * 60 {
			for range workers / 60 {
				villagers[pauses.IntN(workers)].pause(2 * time.Second)
			}
			if second%60 == 30 {
				master.busy(2 * time.Second)
			}
			pass(time.Second)
		}
		master.wantLost()
		synctest.Wait()
		for i, v := range villagers {
			if v.lost > 0 {
				t.Errorf("%s lost its master", name(i))
			}
		}
		master.do(func() {
			for i := range 3 {
				lines[2*i].cut = true
			}
		})
		pass(time.Minute)
		master.wantLost(name(0), name(1), name(2))
		lost := int64(0)
		for _, l := range lines {
			lost += l.lost.Load()
		}
		t.Logf("%d heartbeats were lost", lost)
		if lost < 3000 {
			t.Errorf("only %d heartbeats were lost", lost)
		}
	})
}
