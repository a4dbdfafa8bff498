package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/failpoint"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/task"
	"github.com/leatdata/leat/job"
	"github.com/leatdata/leat/metrics"
	"github.com/leatdata/leat/ratelimit"
)

// Deps is what a Runner stands on.
type Deps struct {
	Registry *connector.Registry
	Log      *slog.Logger
	// FS holds state and dirty records; nil is the operating system's.
	FS storage.FS
	// Lock takes the lock of a job's folder until release, or fails with
	// ErrLocked; nil is a lock of the operating system's.
	Lock func(dir string) (release func(), err error)
	// LockFolder waits until no other job puts its dirty records into a
	// folder; nil is a lock of the operating system's.
	LockFolder func(dir string) (release func())
	// Progress hears how the job stands, a few times a second; may be nil.
	Progress func(Progress)
	// Failpoint is called at named points; may be nil.
	Failpoint func(name string)
	// Metrics is the scope of the metrics; nil keeps them to the run.
	Metrics *metrics.Group
	// Limits are new limits for the job while it runs; may be nil.
	Limits <-chan ratelimit.Amount
}

// Options say how to run a job.
type Options struct {
	// StateDir holds the state of all jobs, a folder each.
	StateDir string
	// Restart gives an unfinished run up and begins anew; KeepRows lets rows
	// that it has appended stay in the target.
	Restart, KeepRows bool
}

// heartbeatInterval is how often the subtasks' numbers are gathered.
const heartbeatInterval = 10 * time.Second

// ErrDirtyLimit and ErrInterrupted say how a job ended, by errors.Is.
var (
	ErrDirtyLimit  = errors.New("the limit of dirty records was passed")
	ErrInterrupted = errors.New("interrupted")
)

// Runner runs jobs in this process.
type Runner struct{ deps Deps }

// New returns a Runner.
func New(deps Deps) *Runner {
	if deps.FS == nil {
		deps.FS = storage.Local{}
	}
	if deps.Lock == nil {
		deps.Lock = lockJob
	}
	if deps.LockFolder == nil {
		deps.LockFolder = lockFolder
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Metrics == nil {
		deps.Metrics = metrics.NewRegistry().Group("leat")
	}
	if deps.Progress == nil {
		deps.Progress = func(Progress) {}
	}
	if deps.Failpoint == nil {
		deps.Failpoint = func(string) {}
	}
	return &Runner{deps: deps}
}

// Run runs a job to its end, going on with an unfinished run of it. The
// summary is filled as far as the job came, also beside an error.
func (r *Runner) Run(ctx context.Context, j *job.Job, opts Options) (Summary, error) {
	start := time.Now()
	sum := Summary{Job: j.Name, State: jobmaster.Failed}
	dir := filepath.Join(opts.StateDir, j.Name)
	if err := storage.MakeDir(r.deps.FS, dir); err != nil {
		return sum, fmt.Errorf("make the job's state folder (--state names another place): %w", err)
	}
	release, err := r.deps.Lock(dir)
	if err != nil {
		return sum, err
	}
	defer release()
	st, err := openStore(r.deps.FS, dir)
	if err != nil {
		return sum, err
	}
	x := &execution{Runner: r, job: j, dir: dir, store: st}
	err = x.run(ctx, opts)
	sum.fill(x.end, x.checkpoints, time.Since(start))
	sum.limited(x.rate)
	sum.Kept = err != nil && x.kept()
	return sum, err
}

// execution is one start of a job.
type execution struct {
	*Runner
	job   *job.Job
	dir   string
	store *store

	// begun is the run that this start goes on with or begins; "" before.
	begun       string
	end         jobmaster.End
	checkpoints int64
	rate        rate
}

func (x *execution) run(ctx context.Context, opts Options) error {
	if err := x.checkDirty(); err != nil {
		return err
	}
	if err := x.begin(opts); err != nil {
		return err
	}
	current := x.store.data.Current
	a, err := x.assemble(ctx, current)
	if err != nil {
		return x.rollBack(err)
	}
	defer a.close(x.deps.Log)
	if a.selfRead != "" {
		x.deps.Log.Warn("source and sink may be one", "doubt", a.selfRead)
	}
	a.warn(x.deps.Log)
	if err := x.prepare(ctx, a); err != nil {
		return err
	}
	l := x.loop(a, current)
	if err := l.execute(ctx, a.slots); err != nil {
		return err
	}
	x.end, x.checkpoints, x.rate = l.end, l.master.Checkpoints(), l.rate
	// The last state is stored; the two ends have still to let go.
	x.deps.Failpoint("before-close")
	return x.conclude(l)
}

// begin decides which run this is, and stores it under a new epoch.
func (x *execution) begin(opts Options) error {
	d := &x.store.data
	if d.Epoch++; failpoint.Broken("same-epoch") {
		d.Epoch = max(1, d.Epoch-1)
	}
	known := d.Current
	if known != nil && !known.Prepared && (opts.Restart || x.changed(known)) {
		known, d.Previous = d.Previous, nil
	}
	switch {
	case known == nil:
		d.Current = x.newRun(connector.Run{Fresh: true, Restart: opts.Restart, KeepRows: opts.KeepRows})
		d.Previous = nil
	case known.finished():
		d.Current = x.newRun(connector.Run{Restart: opts.Restart, KeepRows: opts.KeepRows})
		d.Previous = known
	case opts.Restart:
		d.Current = x.newRun(connector.Run{Restart: true, KeepRows: opts.KeepRows, Abandoned: known.Run.ID})
		d.Previous = known
	case x.changed(known):
		return x.refuse(known)
	default:
		d.Current = known
		known.State.Outcome, known.State.Failure = jobmaster.Unfinished, nil
		x.deps.Log.Info("going on with the unfinished run", "run", known.Run.ID)
	}
	x.begun = d.Current.Run.ID
	return x.save()
}

func (x *execution) newRun(run connector.Run) *runRecord {
	run.ID, run.Job, run.JobHash = uuid.NewString(), x.job.Name, x.job.Hash()
	return &runRecord{Run: run, Job: x.job.Fingerprint()}
}

func (x *execution) changed(r *runRecord) bool { return r.Run.JobHash != x.job.Hash() }

// refuse says what has changed since the unfinished run, and the way out.
func (x *execution) refuse(known *runRecord) error {
	return connector.Errorf(connector.Usage,
		"an unfinished run of %s copied something else: %s; put that back to go on with it, or begin anew with --restart",
		x.job.Name, strings.Join(x.job.Diff(known.Job), "; "))
}

// rollBack brings back the run before a new one that could not begin.
func (x *execution) rollBack(cause error) error {
	d := &x.store.data
	if d.Current.Prepared || ctxClass(cause) {
		return cause
	}
	d.Current, d.Previous = d.Previous, nil
	return errors.Join(cause, x.save())
}

// kept reports whether the next start goes on with this run: what is in hand
// may not have come to the disk, and what could not be synced may have.
func (x *execution) kept() bool {
	if x.begun == "" {
		return false
	}
	st, err := openStore(x.deps.FS, x.dir)
	if err != nil || st.data.Current == nil {
		return false
	}
	return st.data.Current.Run.ID == x.begun && !st.data.Current.finished()
}

// ctxClass reports an error after which the same start may still succeed.
func ctxClass(err error) bool { return connector.ClassOf(err) == connector.Retryable }

// prepare makes the target ready, and marks the run as prepared.
func (x *execution) prepare(ctx context.Context, a *assembly) error {
	current := x.store.data.Current
	err := a.sink.Prepare(ctx, current.Run)
	switch {
	case errors.Is(err, connector.ErrFinished):
		if !current.State.Finishing {
			return connector.Errorf(connector.Fatal, "the target says that run %s has finished, and %s does not know it: the state is an old copy; begin anew with --restart", current.Run.ID, x.store.dir)
		}
	case err != nil:
		return x.rollBack(err)
	}
	if current.Prepared {
		return nil
	}
	if prev := x.store.data.Previous; prev != nil {
		if err := storage.RemoveAll(x.deps.FS, x.dirty().Path); err != nil {
			return fmt.Errorf("remove the dirty records of the run before: %w", err)
		}
	}
	current.Prepared, x.store.data.Previous = true, nil
	return x.save()
}

func (x *execution) save() error { return x.store.save(x.job.Checkpoint.Keep) }

func (x *execution) dirty() task.DirtyDir {
	return task.DirtyDir{FS: x.deps.FS, Path: filepath.Join(x.dir, "dirty")}
}

func (x *execution) loop(a *assembly, current *runRecord) *loop {
	d := &x.store.data
	limit := limitOf(x.job)
	group := x.deps.Metrics.With("job", x.job.Name)
	group.Close() // of an earlier run of the job in this process
	board := newBoard(group.Group("job"))
	return &loop{
		log: x.deps.Log, sink: a.sink, source: a.source, run: current.Run, want: a.want,
		master: jobmaster.New(jobmaster.Config{
			Epoch: d.Epoch, Guarantee: a.plan.Guarantee, AllowRefused: a.plan.AllowRefused,
			Limits:             jobmaster.Limits{Records: x.job.Errors.Records, Percentage: x.job.Errors.Percentage},
			Restart:            restartOf(x.job.Restart),
			CheckpointInterval: x.job.Checkpoint.Interval,
			Parallelism:        a.slots, Limit: limit, HeartbeatInterval: heartbeatInterval,
		}, current.State),
		save: func(s jobmaster.State) error {
			if endedWell(s.Outcome) {
				// After this state another start is another run: nothing of
				// this one may be left to do.
				if _, err := x.joinDirty(s.States, nil, s.Totals().Dirty > 0); err != nil {
					return err
				}
			}
			current.State = s
			return x.save()
		},
		tasks: task.Config{
			Run: current.Run, Source: a.source, Sink: a.sink, Schema: a.schema, Mapper: a.mapper,
			Dirty: x.dirty(), CommitInterval: x.job.Checkpoint.Interval,
			Metrics: group, Limited: !limit.IsZero(),
		},
		told: func(m *jobmaster.Master, r rate) {
			p := progressOf(m, r)
			board.show(p)
			x.deps.Progress(p)
		},
		changes:   x.deps.Limits,
		failpoint: x.deps.Failpoint,
	}
}

func limitOf(j *job.Job) ratelimit.Amount {
	return ratelimit.Amount{Bytes: j.Speed.Bytes, Records: j.Speed.Records}
}

// restartOf says "none" to the jobmaster as it wants it said.
func restartOf(r job.Restart) jobmaster.Restart {
	if r.Attempts == 0 {
		return jobmaster.Restart{Attempts: -1}
	}
	return jobmaster.Restart{Attempts: r.Attempts, Backoff: r.Backoff, MaxBackoff: time.Minute}
}

// conclude turns the end into an error, if it is one. The dirty records that
// there are by now are joined then too.
func (x *execution) conclude(l *loop) error {
	if endedWell(x.end.Outcome) {
		return nil
	}
	tails := l.tails
	if x.end.Failure == nil {
		tails = nil
	}
	path, err := x.joinDirty(l.master.State().States, tails, x.end.Counters.Dirty > 0 || len(l.dirty.example()) > 0)
	if err != nil {
		x.deps.Log.Warn("the dirty records so far are not joined; they are kept", "folder", x.dirty().Path, "error", err)
		path = x.dirty().Path
	}
	switch f := x.end.Failure; {
	case f == nil:
		return ErrInterrupted
	case f.Class == connector.Dirty:
		return connector.E(connector.Dirty, fmt.Errorf("%w: %s; the first: %s; all of them are in %s", ErrDirtyLimit, f.Message, l.dirty.example(), path))
	default:
		return connector.E(f.Class, errors.New(f.Message))
	}
}
