package jobmaster_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
)

// TestSimulation runs jobs in a world where everything goes wrong at any
// point: crashes of the whole job, lost workers whose attempts go on, failures
// of attempts and effects, lost replies, messages that come late or twice.
// Then the world calms down, and the job has to end, with each record in the
// target once, each split done once, and the counters right.
func TestSimulation(t *testing.T) {
	for name, g := range map[string]connector.Guarantee{
		"with position": connector.WithPosition, "staged": connector.Staged, "at least once": connector.AtLeastOnce,
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { simulate(t, g) })
		})
	}
}

func simulate(t *rapid.T, g connector.Guarantee) {
	w := &world{
		t:      t,
		target: newTarget(g, rapid.IntRange(0, 40).Draw(t, "records")),
		cfg: jobmaster.Config{
			Guarantee: g, AllowRefused: true, Limits: jobmaster.Limits{Records: -1, Percentage: -1},
			Restart:            jobmaster.Restart{Attempts: rapid.IntRange(1, 3).Draw(t, "attempts")},
			CheckpointInterval: time.Duration(rapid.IntRange(1, 20).Draw(t, "interval")) * time.Second,
		},
	}
	w.begin()
	for range rapid.IntRange(0, 200).Draw(t, "steps") {
		w.chaos()
		if w.end == nil {
			continue
		}
		if w.end.Outcome == jobmaster.Done || w.end.Outcome == jobmaster.DoneWithDirty {
			break
		}
		w.begin()
	}
	w.calm()
	w.checkEnd()
}

// chaos lets one thing happen.
func (w *world) chaos() {
	type action struct {
		weight int
		do     func()
	}
	var actions []action
	may := func(weight int, possible bool, do func()) {
		if possible {
			actions = append(actions, action{weight, do})
		}
	}
	outs := slices.Sorted(maps.Keys(w.out))
	var acting, speaking []*attempt
	for _, a := range w.attempts {
		if !a.over {
			acting = append(acting, a)
		}
		if len(a.queue) > 0 {
			speaking = append(speaking, a)
		}
	}
	may(20, len(outs) > 0, func() { w.answer(w.draw(outs)) })
	may(20, len(acting) > 0, func() { w.act(acting[rapid.IntRange(0, len(acting)-1).Draw(w.t, "attempt")]) })
	may(20, len(speaking) > 0, func() { w.deliver(speaking[rapid.IntRange(0, len(speaking)-1).Draw(w.t, "speaker")]) })
	may(5, len(w.sent) > 0, func() { w.step(w.sent[rapid.IntRange(0, len(w.sent)-1).Draw(w.t, "sent before")]) })
	may(10, true, func() { w.slotUp(rapid.IntRange(0, 3).Draw(w.t, "slot")) })
	may(10, true, func() { w.tick(time.Duration(rapid.IntRange(0, 20000).Draw(w.t, "ms")) * time.Millisecond) })
	may(3, len(w.slots) > 0, func() { w.lose(rapid.SampledFrom(slices.Sorted(maps.Keys(w.slots))).Draw(w.t, "lost slot")) })
	may(1, len(outs) > 0, func() {
		class := rapid.SampledFrom([]connector.Class{connector.Retryable, connector.Permanent}).Draw(w.t, "class")
		w.refuse(w.draw(outs), rapid.Bool().Draw(w.t, "performed"), class)
	})
	may(3, true, w.crash)
	may(1, true, func() { w.step(jobmaster.Cancel{}) })
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	n := rapid.IntRange(0, total-1).Draw(w.t, "action")
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			a.do()
			return
		}
	}
}

func (w *world) draw(kinds []string) string { return rapid.SampledFrom(kinds).Draw(w.t, "effect") }

func (w *world) tick(d time.Duration) {
	w.clock.Now += d
	w.step(w.clock)
}

func (w *world) slotUp(slot int) {
	if _, known := w.slots[slot]; !known {
		w.slots[slot] = nil
	}
	w.step(jobmaster.SlotUp{Slot: slot})
}

// lose takes a slot away. Its attempt goes on, and nobody waits for it.
func (w *world) lose(slot int) {
	if a := w.slots[slot]; a != nil {
		a.deaf = true
	}
	delete(w.slots, slot)
	w.step(jobmaster.WorkerLost{Slots: []int{slot}})
}

// crash ends the whole job, with effects perhaps performed that nobody hears
// of, and begins it again.
func (w *world) crash() {
	for _, kind := range slices.Sorted(maps.Keys(w.out)) {
		if rapid.Bool().Draw(w.t, "performed before the crash") {
			w.perform(w.out[kind])
		}
	}
	for _, a := range w.attempts {
		a.deaf = true
	}
	w.begin()
}

// act lets an attempt do something.
func (w *world) act(a *attempt) {
	switch n := rapid.IntRange(0, 19).Draw(w.t, "what it does"); {
	case n == 0:
		a.die(&jobmaster.Failure{Class: connector.Retryable, Message: "connection lost"})
	case n == 1 && rapid.IntRange(0, 3).Draw(w.t, "permanent") == 0:
		a.die(&jobmaster.Failure{Class: connector.Permanent, Message: "no such table"})
	case a.stopped && n < 10:
		a.die(nil)
	case !a.claimed:
		a.claim()
	case n < 5:
		c := a.state.Counters
		c.Read += int64(n)
		a.say(jobmaster.Progress{Split: a.split.ID, Token: a.token, Counters: c})
	default:
		a.commit(rapid.IntRange(0, 4).Draw(w.t, "records"), n == 5)
	}
}

// deliver gives the machine an attempt's next message, which may come again.
func (w *world) deliver(a *attempt) {
	e := a.queue[0]
	if len(w.sent) < 50 {
		w.sent = append(w.sent, e)
	}
	a.queue = a.queue[1:]
	if _, ok := e.(jobmaster.AttemptEnded); ok && !a.deaf {
		a.deaf = true
		w.slots[a.slot] = nil
	}
	w.step(e)
}

// calm lets the world answer everything until the job is done.
func (w *world) calm() {
	const patience = 3000
	for range patience {
		if w.end != nil {
			if w.end.Outcome == jobmaster.Done || w.end.Outcome == jobmaster.DoneWithDirty {
				return
			}
			w.begin()
		}
		w.quiet()
	}
	w.t.Fatalf("the job is stuck; out are %v, slots %v", w.out, w.slots)
}

// quiet is a round in which everything goes well.
func (w *world) quiet() {
	for _, kind := range slices.Sorted(maps.Keys(w.out)) {
		if w.end == nil && w.out[kind] != nil {
			w.answer(kind)
		}
	}
	for _, slot := range slices.Sorted(maps.Keys(w.slots)) {
		a := w.slots[slot]
		if a == nil || w.end != nil {
			continue
		}
		switch {
		case len(a.queue) > 0:
			w.deliver(a)
		case a.over:
		case a.stopped:
			a.die(nil)
		case !a.claimed:
			a.claim()
		default:
			a.commit(3, false)
		}
	}
	if w.end == nil && len(w.slots) == 0 {
		w.slotUp(0)
	}
	if w.end == nil {
		w.tick(time.Second)
	}
}

// checkEnd holds what a done job promises.
func (w *world) checkEnd() {
	tg := w.target
	if !tg.finished {
		w.t.Fatal("the job is done, and the target has not finished")
	}
	if w.end.Counters != tg.expected {
		w.t.Fatalf("the job counts %+v, want %+v", w.end.Counters, tg.expected)
	}
	if want := tg.expected.Dirty > 0; (w.end.Outcome == jobmaster.DoneWithDirty) != want {
		w.t.Fatalf("the outcome is %s with %d dirty records", w.end.Outcome, tg.expected.Dirty)
	}
	if tg.doneTwice > 0 {
		w.t.Fatalf("%d splits were done twice", tg.doneTwice)
	}
	for r := range tg.records {
		n := tg.rows[r]
		switch {
		case !written(r) && n > 0:
			w.t.Fatalf("record %d is in the target", r)
		case written(r) && (n == 0 || (n > 1 && tg.guarantee != connector.AtLeastOnce)):
			w.t.Fatalf("record %d is in the target %d times", r, n)
		}
	}
}
