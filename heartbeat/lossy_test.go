package heartbeat

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

// lossy loses one beat in a hundred, and delays the others by up to 200 ms. Its
// faults are the same in every run.
type lossy struct {
	random *rand.Rand
	cut    bool
	lost   atomic.Int64
	to     func()
}

func newLossy(i uint64, to func()) *lossy {
	return &lossy{random: rand.New(rand.NewPCG(20261201, i)), to: to}
}

// Send implements Target. It is called on one loop.
func (l *lossy) Send(Beat[string]) error {
	lost, jitter := l.random.IntN(100) == 0, time.Duration(l.random.Int64N(int64(200*time.Millisecond)))
	if lost || l.cut {
		l.lost.Add(1)
		return nil
	}
	time.AfterFunc(jitter, l.to)
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
		s, theirs := start(t, Config{}), start(t, Config{})
		sender, master := newActive(t, s, "master")
		var owners []*owner
		var lines []*lossy
		for i := range workers {
			id := name(i)
			m, o := newPassive(t, theirs, id)
			owners = append(owners, o)
			request := newLossy(uint64(2*i), func() {
				o.run(func() { m.Receive(Beat[string]{From: "master", Request: true}) })
			})
			answer := newLossy(uint64(2*i+1), func() {
				master.run(func() { sender.Receive(Beat[string]{From: id}) })
			})
			lines = append(lines, request, answer)
			monitor(t, sender.Manager, id, request)
			monitor(t, m, "master", answer)
		}
		pauses := rand.New(rand.NewPCG(20261201, 1<<32))
		for second := range 30 * 60 {
			for range workers / 60 {
				owners[pauses.IntN(workers)].busy(2 * time.Second)
			}
			if second%60 == 30 {
				master.busy(2 * time.Second)
			}
			pass(time.Second)
		}
		master.wantLost()
		for _, o := range owners {
			o.wantLost()
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
