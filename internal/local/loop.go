package local

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/task"
	"github.com/leatdata/leat/ratelimit"
)

// tickInterval is how often the jobmaster hears the time, limitedInterval how
// often while a limit is on: the ledger answers then.
const (
	tickInterval    = 50 * time.Millisecond
	limitedInterval = 5 * time.Millisecond
)

// loop carries out a jobmaster's effects and feeds it the events.
type loop struct {
	log       *slog.Logger
	master    *jobmaster.Master
	sink      connector.Sink
	source    connector.Source
	run       connector.Run
	want      connector.Want
	save      func(jobmaster.State) error
	tasks     task.Config
	told      func(*jobmaster.Master, rate)
	failpoint func(name string)

	events chan jobmaster.Event
	closed chan struct{}
	work   sync.WaitGroup
	slots  map[int]*slot
	// tails are the last attempts of splits that are not done.
	tails map[connector.SplitID]connector.Token
	dirty firstDirty
	end   jobmaster.End
	start time.Time
	// toldAt is when told was called last.
	toldAt time.Time
	rate   rate
	// changes are new limits, for a job that runs; nil where nobody changes it.
	changes <-chan ratelimit.Amount
	// cancelled says that the job was told to stop.
	cancelled bool
}

// slot is a subtask and the attempt that it runs.
type slot struct {
	subtask *task.Subtask
	stop    context.CancelFunc
}

// execute runs the job to its end. A cancelled ctx stops it, with its state kept.
func (l *loop) execute(ctx context.Context, slots int) error {
	l.events = make(chan jobmaster.Event, 64)
	l.closed = make(chan struct{})
	l.slots = map[int]*slot{}
	l.tails = map[connector.SplitID]connector.Token{}
	// Effects outlive a cancel of ctx until the master has stopped them in order.
	effects, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer func() { stop(); close(l.closed); l.work.Wait() }()
	l.start = time.Now()
	ended := l.carryOut(effects, l.master.Start())
	for i := range slots {
		s, err := task.New(l.tasks, i)
		if err != nil {
			return err
		}
		l.slots[i] = &slot{subtask: s}
		ended = l.carryOut(effects, l.master.Step(jobmaster.SlotUp{Slot: i})) || ended
	}
	ended = ended || l.tick(effects) // the first leases, before there is anything to pass on
	every := l.interval()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	cancelled := ctx.Done()
	for !ended {
		var e jobmaster.Event
		select {
		case <-cancelled:
			cancelled, l.cancelled = nil, true
			stop()
			e = jobmaster.Cancel{}
		case <-ticker.C:
			ended = l.tick(effects)
			if now := l.interval(); now != every {
				every = now
				ticker.Reset(every)
			}
			continue
		case limit := <-l.changes:
			if err := limit.Validate(); err != nil {
				l.log.Warn("a new limit is not taken", "error", err)
				continue
			}
			e = jobmaster.Limit{Limit: limit}
		case e = <-l.events:
			l.heard(e)
		}
		ended = l.carryOut(effects, l.master.Step(e))
	}
	l.tell()
	return nil
}

// interval is the time between two ticks.
func (l *loop) interval() time.Duration {
	if l.master.RateLimit().IsZero() {
		return tickInterval
	}
	return limitedInterval
}

// tick tells the jobmaster what the subtasks have to say, and then the time.
func (l *loop) tick(ctx context.Context) (ended bool) {
	for i := range len(l.slots) {
		s := l.slots[i].subtask
		l.master.Step(jobmaster.Numbers{Slot: i, State: s.Numbers().State()})
		if r, due := s.Limiter().Report(); due {
			l.master.Step(jobmaster.Demand{Now: time.Since(l.start), Slot: i, Report: r})
		}
	}
	ended = l.carryOut(ctx, l.master.Step(jobmaster.Tick{Now: time.Since(l.start)}))
	if now := time.Now(); now.Sub(l.toldAt) >= tickInterval {
		l.toldAt = now
		l.tell()
	}
	return ended
}

// tell passes on how the job stands.
func (l *loop) tell() {
	r := rate{limit: l.master.RateLimit()}
	for i := range len(l.slots) {
		s := l.slots[i].subtask
		r.waited += s.Limiter().State().Waited
		r.rates = r.rates.Add(s.Numbers().Rates())
	}
	l.rate = r
	l.told(l.master, r)
}

// heard keeps what the end will need of an event.
func (l *loop) heard(e jobmaster.Event) {
	switch e := e.(type) {
	case jobmaster.AttemptEnded:
		if e.Failure != nil {
			l.log.Warn("attempt ended", "split", e.Split, "attempt", e.Token.String(), "class", e.Failure.Class.String(), "error", e.Failure.Message)
		}
	case jobmaster.EffectFailed:
		if l.cancelled {
			return // it was broken off
		}
		l.log.Warn("step failed", "step", e.Op, "class", e.Failure.Class.String(), "error", e.Failure.Message)
	case jobmaster.Report:
		if e.State.Done {
			delete(l.tails, e.State.Split)
		}
	}
}

// carryOut starts each effect and reports whether the job has ended.
func (l *loop) carryOut(ctx context.Context, effects []jobmaster.Effect) bool {
	for _, e := range effects {
		switch e := e.(type) {
		case jobmaster.End:
			l.end = e
			return true
		case jobmaster.Assign:
			l.assign(ctx, e)
		case jobmaster.Stop:
			if s := l.slots[e.Slot]; s.stop != nil {
				s.stop()
			}
		case jobmaster.Grant:
			if s := l.slots[e.Slot]; s != nil {
				s.subtask.Limiter().Grant(e.Lease)
			}
		case jobmaster.Restore:
			l.slots[e.Slot].subtask.Numbers().Restore(e.State)
		case jobmaster.Global:
			for _, s := range l.slots {
				s.subtask.Globals().Set(e.Round, e.Sum)
			}
		default:
			l.work.Go(func() { l.answer(l.effect(ctx, e)) })
		}
	}
	return false
}

// answer hands an event to the loop. After the end nobody listens.
func (l *loop) answer(e jobmaster.Event) {
	select {
	case l.events <- e:
	case <-l.closed:
	}
}

func (l *loop) assign(ctx context.Context, e jobmaster.Assign) {
	s := l.slots[e.Slot]
	attempt, stop := context.WithCancel(ctx)
	s.stop = stop
	l.tails[e.Split.ID] = e.Token
	l.work.Go(func() {
		defer stop()
		err := s.subtask.Run(attempt, e.Split, e.Token, e.State, e.Format, &observer{loop: l})
		ended := jobmaster.AttemptEnded{Slot: e.Slot, Split: e.Split.ID, Token: e.Token}
		if err != nil && attempt.Err() == nil {
			ended.Failure = jobmaster.FailureOf(err)
		}
		l.answer(ended)
	})
}

// effect carries out one effect that is answered by an event.
func (l *loop) effect(ctx context.Context, e jobmaster.Effect) jobmaster.Event {
	switch e := e.(type) {
	case jobmaster.Enumerate:
		found, err := l.source.Enumerate(ctx, e.Cursor, e.First, l.want)
		return answerOr("enumerate", jobmaster.SplitsFound{Enumeration: found}, err)
	case jobmaster.Store:
		l.failpoint("before-store")
		err := l.save(e.State)
		l.failpoint("after-store")
		return answerOr("store", jobmaster.Stored{Version: e.Version}, err)
	case jobmaster.Register:
		ids := make([]connector.SplitID, len(e.Splits))
		for i, s := range e.Splits {
			ids[i] = s.ID
		}
		return answerOr("register", jobmaster.Registered{Splits: ids}, l.sink.Register(ctx, l.run, e.Splits))
	case jobmaster.ReadStates:
		states, err := l.sink.States(ctx, l.run)
		return answerOr("read", jobmaster.TargetStates{States: states}, err)
	case jobmaster.Finish:
		return answerOr("finish", jobmaster.Finished{}, l.sink.Finish(ctx, l.run, e.States))
	}
	panic("local: an effect without an answer")
}

func answerOr(op string, answer jobmaster.Event, err error) jobmaster.Event {
	if err == nil {
		return answer
	}
	return jobmaster.EffectFailed{Op: op, Failure: *jobmaster.FailureOf(err)}
}

// observer tells the loop what an attempt does.
type observer struct{ loop *loop }

// Durable implements task.Observer.
func (o *observer) Durable(st connector.SplitState, f connector.FormatState) {
	o.loop.answer(jobmaster.Report{State: st, Format: f})
}

// Progress implements task.Observer.
func (o *observer) Progress(split connector.SplitID, token connector.Token, c connector.Counters) {
	o.loop.answer(jobmaster.Progress{Split: split, Token: token, Counters: c})
}

// Dirty implements task.Observer.
func (o *observer) Dirty(r batch.Reject) { o.loop.dirty.keep(r) }

// firstDirty keeps the first dirty record, as the example for a message.
type firstDirty struct {
	mu    sync.Mutex
	first string
}

func (f *firstDirty) keep(r batch.Reject) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first != "" {
		return
	}
	if r.Column != "" {
		f.first = "column " + r.Column + ": "
	}
	f.first += r.Reason
	if r.Where != "" {
		f.first = r.Where + ": " + f.first
	}
}

func (f *firstDirty) example() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}
