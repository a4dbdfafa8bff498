package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/job"
)

// execution says how a job is run and shown.
type execution struct {
	logging
	state    string
	restart  bool
	keepRows bool
	progress string
	summary  string
	metrics  string
	given    *pflag.FlagSet
}

func (x *execution) flags(flags *pflag.FlagSet) {
	x.logging.flags(flags)
	x.given = flags
	flags.StringVar(&x.state, "state", ".leat", "`folder` of the state of jobs")
	flags.BoolVar(&x.restart, "restart", false, "give up an unfinished run and begin anew")
	flags.BoolVar(&x.keepRows, "keep-rows", false, "with --restart: leave the rows that the given-up run has appended")
	flags.StringVar(&x.progress, "progress", "", "`kind` of progress: none, bar or plain; by default a bar on a terminal, else plain lines")
	flags.StringVar(&x.metrics, "metrics", "", "`address` at which metrics are served while the job runs, such as :9090, under /metrics")
	flags.StringVar(&x.summary, "summary", "text", "`form` of the summary: text, json or none; json goes to standard output, unless records do")
}

func (x *execution) check() error {
	if x.keepRows && !x.restart {
		return usagef("--keep-rows says what --restart leaves: give both")
	}
	if x.summary != "text" && x.summary != "json" && x.summary != "none" {
		return usagef("--summary is text, json or none, not %q", x.summary)
	}
	if x.metrics == "" && x.given.Changed("metrics") {
		return usagef("--metrics has no address: give one such as :9090, or leave it out")
	}
	return nil
}

// execute runs a job to its end and says how it went. again is the command
// that goes on with it.
func (x *execution) execute(ctx context.Context, env *Env, j *job.Job, again string) error {
	return redacted(j, x.run(ctx, env, j, again))
}

func (x *execution) run(ctx context.Context, env *Env, j *job.Job, again string) error {
	if err := x.check(); err != nil {
		return err
	}
	kind := x.progress
	if kind == "" && standardStream(&j.Sink) && terminal(env.Stdout) {
		kind = "none" // the records themselves are seen
	}
	show, err := newReporter(kind, j.Name, env.Stderr)
	if err != nil {
		return err
	}
	defer show.stop()
	log, err := x.logger(show.writer(), j.Redact)
	if err != nil {
		return err
	}
	for _, w := range j.Warnings {
		log.Warn(w) //nolint:sloglint // the warning is the message
	}
	group, stop, err := serveMetrics(x.metrics, log)
	if err != nil {
		return err
	}
	defer stop()
	runner := local.New(local.Deps{Registry: env.Registry, Log: log, Progress: show.update, Failpoint: env.Failpoint, Metrics: group})
	sum, err := runner.Run(ctx, j, local.Options{StateDir: x.state, Restart: x.restart, KeepRows: x.keepRows})
	show.stop()
	return errors.Join(x.printSummary(env, j, sum, err), x.explain(ctx, j, sum, err, again))
}

// printSummary prints the summary of a job that ran, however it ended.
func (x *execution) printSummary(env *Env, j *job.Job, sum local.Summary, err error) error {
	if x.summary == "none" || connector.ClassOf(err) == connector.Usage && err != nil {
		return nil
	}
	w := env.Stderr
	if x.summary == "json" && !standardStream(&j.Sink) {
		w = env.Stdout
	}
	return printSummary(w, x.summary, sum)
}

// explain says beside an error where the state is and how to go on.
func (x *execution) explain(ctx context.Context, j *job.Job, sum local.Summary, err error, again string) error {
	dir := filepath.Join(x.state, j.Name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, local.ErrInterrupted), ctx.Err() != nil:
		return fmt.Errorf("%w: the state is kept in %s; go on with: %s", local.ErrInterrupted, dir, again)
	case !sum.Kept, connector.ClassOf(err) == connector.Fenced: // it says itself whose the run is now
		return err
	}
	return fmt.Errorf("%w\nthe state is kept in %s; begin anew with --restart, or, once the cause is gone, go on with: %s", err, dir, again)
}
