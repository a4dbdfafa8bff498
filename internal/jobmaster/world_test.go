package jobmaster_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
)

// world is everything around a jobmaster in a simulation: a source, a target,
// a disk, slots with attempts, and messages that may come late or twice.
// What it checks are the invariants of the package's doc.go.
type world struct {
	t      *rapid.T
	target *target
	cfg    jobmaster.Config
	master *jobmaster.Master

	// disk is the last stored state; given are Store effects by version.
	disk  []byte
	given map[uint64][]byte

	// The effects that are out, by kind.
	out map[string]jobmaster.Effect
	// spoken says that the target's states were heard since the start.
	spoken bool

	slots    map[int]*attempt // nil: free
	attempts []*attempt       // also those that nobody waits for any more
	sent     []jobmaster.Event
	highest  connector.Token
	clock    jobmaster.Tick
	end      *jobmaster.End
	starts   int
}

// begin starts the job from what the disk holds.
func (w *world) begin() {
	var state jobmaster.State
	if w.disk != nil {
		if err := json.Unmarshal(w.disk, &state); err != nil {
			w.t.Fatal(err)
		}
	}
	w.cfg.Epoch++
	w.starts++
	w.given, w.out = map[uint64][]byte{}, map[string]jobmaster.Effect{}
	// Answers of a disk do not outlive the process; what workers say may.
	w.sent = slices.DeleteFunc(w.sent, func(e jobmaster.Event) bool { _, ok := e.(jobmaster.Stored); return ok })
	w.slots, w.end, w.clock = map[int]*attempt{}, nil, jobmaster.Tick{}
	w.spoken = w.target.guarantee != connector.WithPosition || len(state.Splits) == 0
	w.master = jobmaster.New(w.cfg, state)
	w.heard(w.master.Start())
}

// step gives the machine an event.
func (w *world) step(e jobmaster.Event) {
	w.t.Logf("event %T%+v", e, e)
	w.heard(w.master.Step(e))
}

// stored is the state that the disk holds.
func (w *world) stored() jobmaster.State {
	var state jobmaster.State
	if w.disk != nil {
		if err := json.Unmarshal(w.disk, &state); err != nil {
			w.t.Fatal(err)
		}
	}
	return state
}

// heard checks effects and keeps them until they are answered.
func (w *world) heard(effects []jobmaster.Effect) {
	for _, e := range effects {
		w.t.Logf("    effect %T%+v", e, e)
		if w.end != nil {
			w.t.Fatalf("%T after the end", e)
		}
		switch e := e.(type) {
		case jobmaster.Assign:
			w.assigned(e)
		case jobmaster.Stop:
			a := w.slots[e.Slot]
			if a == nil || a.split.ID != e.Split || a.token != e.Token {
				w.t.Fatalf("stop of an attempt that does not run: %+v", e)
			}
			a.stopped = true
		case jobmaster.End:
			w.ended(e)
		default:
			w.asked(e)
		}
	}
}

// asked takes an effect that is answered: one of each kind at a time.
func (w *world) asked(e jobmaster.Effect) {
	kind := fmt.Sprintf("%T", e)
	if w.out[kind] != nil {
		w.t.Fatalf("a second %s while one is out", kind)
	}
	w.out[kind] = e
	disk := w.stored()
	switch e := e.(type) {
	case jobmaster.Store:
		text, err := json.Marshal(e.State)
		if err != nil {
			w.t.Fatal(err)
		}
		if w.given[e.Version] != nil {
			w.t.Fatalf("version %d is stored twice", e.Version)
		}
		w.given[e.Version] = text
		for i, s := range disk.Splits {
			if i >= len(e.State.Splits) || e.State.Splits[i] != s {
				w.t.Fatalf("a stored split changes: %+v", s)
			}
		}
	case jobmaster.Register:
		for _, s := range e.Splits {
			if int(s.ID) >= len(disk.Splits) || disk.Splits[s.ID] != s {
				w.t.Fatalf("split %d is registered before it is stored", s.ID)
			}
		}
	case jobmaster.Finish:
		if !disk.Finishing {
			w.t.Fatal("finish before a stored state says so")
		}
		w.checkFinish(e)
	}
}

// checkFinish holds that all is done and counted when the target is to finish.
func (w *world) checkFinish(e jobmaster.Finish) {
	var sum connector.Counters
	for i, st := range e.States {
		if !st.Done || st.Split != connector.SplitID(i) {
			w.t.Fatalf("finish while split %d is not done: %+v", i, st)
		}
		sum = sum.Add(st.Counters)
	}
	if !sum.Balanced() || sum != w.target.expected {
		w.t.Fatalf("finish with the sum %+v, want %+v", sum, w.target.expected)
	}
}

// assigned checks that a split may be handed out, and starts the attempt.
func (w *world) assigned(e jobmaster.Assign) {
	id := e.Split.ID
	disk := w.stored()
	a, known := w.slots[e.Slot]
	switch {
	case int(id) >= len(disk.Splits) || disk.Splits[id] != e.Split:
		w.t.Fatalf("split %d is handed out before it is stored", id)
	case !w.target.registered[id]:
		w.t.Fatalf("split %d is handed out before the target knows it", id)
	case !known || a != nil:
		w.t.Fatalf("slot %d is not free", e.Slot)
	case e.Token <= w.highest:
		w.t.Fatalf("token %s is not higher than %s", e.Token, w.highest)
	case !w.spoken:
		w.t.Fatalf("split %d is handed out before the target has spoken", id)
	case e.State.Done || e.State.Split != id:
		w.t.Fatalf("split %d is handed out with the state %+v", id, e.State)
	}
	for slot, other := range w.slots {
		if other != nil && other.split.ID == id {
			w.t.Fatalf("split %d is handed out twice, it runs on slot %d", id, slot)
		}
	}
	w.highest = e.Token
	a = &attempt{w: w, slot: e.Slot, split: e.Split, token: e.Token, state: e.State}
	w.slots[e.Slot] = a
	w.attempts = append(w.attempts, a)
}

// ended checks that a job's end leaves nothing behind, and is stored.
func (w *world) ended(e jobmaster.End) {
	w.end = &e
	for slot, a := range w.slots {
		if a != nil {
			w.t.Fatalf("the job ends while slot %d runs split %d", slot, a.split.ID)
		}
	}
	if len(w.out) > 0 {
		w.t.Fatalf("the job ends with effects that are out: %v", w.out)
	}
	done := e.Outcome == jobmaster.Done || e.Outcome == jobmaster.DoneWithDirty
	if done && w.stored().Outcome != e.Outcome {
		w.t.Fatalf("the end %s is not stored", e.Outcome)
	}
	if !done && e.Outcome == jobmaster.Failed && e.Failure == nil {
		w.t.Fatal("a failure without a reason")
	}
}

// perform does what an effect asks for, in the world.
func (w *world) perform(e jobmaster.Effect) jobmaster.Event {
	switch e := e.(type) {
	case jobmaster.Enumerate:
		return jobmaster.SplitsFound{Enumeration: w.target.enumerate(w.t, e)}
	case jobmaster.Store:
		w.disk = w.given[e.Version]
		return jobmaster.Stored{Version: e.Version}
	case jobmaster.Register:
		ids := make([]connector.SplitID, len(e.Splits))
		for i, s := range e.Splits {
			w.target.register(w.t, s)
			ids[i] = s.ID
		}
		return jobmaster.Registered{Splits: ids}
	case jobmaster.ReadStates:
		return jobmaster.TargetStates{States: w.target.states()}
	case jobmaster.Finish:
		w.target.finish(w.t, e.States)
		return jobmaster.Finished{}
	}
	w.t.Fatalf("%T is no effect that is answered", e)
	return nil
}

// answer performs an effect that is out and tells the machine.
func (w *world) answer(kind string) {
	e := w.out[kind]
	event := w.perform(e)
	delete(w.out, kind)
	if _, ok := e.(jobmaster.ReadStates); ok {
		w.spoken = true
	}
	if _, ok := e.(jobmaster.Store); ok {
		w.sent = append(w.sent, event)
	}
	w.step(event)
}

// refuse lets an effect fail, perhaps after it was performed.
func (w *world) refuse(kind string, performed bool, class connector.Class) {
	if performed {
		w.perform(w.out[kind])
	}
	op := map[string]string{
		"jobmaster.Enumerate": "enumerate", "jobmaster.Store": "store", "jobmaster.Register": "register",
		"jobmaster.ReadStates": "read", "jobmaster.Finish": "finish",
	}[kind]
	delete(w.out, kind)
	w.step(jobmaster.EffectFailed{Op: op, Failure: jobmaster.Failure{Class: class, Message: "no"}})
}
