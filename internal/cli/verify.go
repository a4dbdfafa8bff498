package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/internal/verify"
	"github.com/leatdata/leat/job"
)

// errDiffer ends a verify that found a difference, with exit code 1.
var errDiffer = errors.New("source and target differ")

// verifyOptions are the flags of verify.
type verifyOptions struct {
	inspection
	key         []string
	ranges      int
	parallelism int
}

func newVerifyCommand(env *Env) *cobra.Command {
	opts := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify JOB",
		Short: "Compare what a job's source and target hold, without copying",
		Long: `Read both sides of a job, make of the source's records what a run would, and
compare counts and content hashes, whole and by ranges of the key. Exit code 0
says that both hold the same records, 1 that they do not.`,
		Args: arguments("a job file"),
		RunE: command(env, opts, runVerify),
	}
	opts.flags(cmd.Flags())
	cmd.Flags().StringSliceVar(&opts.key, "key", nil, "`columns` of the target whose ranges are told apart; by default its key, or the source's")
	cmd.Flags().IntVar(&opts.ranges, "ranges", 64, "`number` of ranges to tell apart")
	cmd.Flags().IntVar(&opts.parallelism, "parallelism", 0, "`number` of parts read at once on each side; by default half the processors")
	return cmd
}

// runVerify is what `leat verify` does.
func runVerify(ctx context.Context, env *Env, opts *verifyOptions, args []string) error {
	if opts.ranges < 1 || opts.parallelism < 0 {
		return usagef("--ranges and --parallelism are numbers from 1")
	}
	return opts.inspect(env, args[0], func(j *job.Job, log *slog.Logger, out io.Writer) error {
		report, err := verify.Run(ctx, j, verify.Options{Key: opts.key, Ranges: opts.ranges, Parallelism: opts.parallelism}, log)
		if report != nil {
			err = errors.Join(printVerify(out, j, report), err)
		}
		if err == nil && !report.Equal() {
			err = errDiffer
		}
		return err
	})
}

func printVerify(w io.Writer, j *job.Job, r *verify.Report) error {
	p := &printer{w: w}
	p.printf("source %s: %s rows, hash %s\n", j.Source.Connector, count(r.Source.Rows), r.Source.Sum)
	p.printf("target %s: %s rows, hash %s\n", j.Sink.Connector, count(r.Target.Rows), r.Target.Sum)
	if r.Filtered > 0 {
		p.printf("left out by where: %s\n", count(r.Filtered))
	}
	if r.Dirty > 0 {
		p.printf("dirty in the source, so in no target: %s\n", count(r.Dirty))
	}
	switch {
	case r.Equal():
		p.printf("both hold the same records\n")
		return p.err
	case len(r.Key) == 0:
		p.printf("they differ; there is no key to say where: name one with --key\n")
		return p.err
	}
	p.printf("they differ in these ranges of %s, of %d:\n", strings.Join(r.Key, ", "), r.Of)
	for _, d := range r.Ranges {
		p.printf("  %s: %s\n", rangeText(d), rangeDifference(d))
	}
	return p.err
}

func rangeText(r verify.Range) string {
	from, to := strings.Join(r.From, ", "), strings.Join(r.To, ", ")
	switch {
	case r.From == nil && r.To == nil:
		return "all"
	case r.From == nil:
		return "below " + to
	case r.To == nil:
		return "from " + from
	}
	return "from " + from + " to below " + to
}

func rangeDifference(r verify.Range) string {
	if r.Source.Rows == r.Target.Rows {
		return count(r.Source.Rows) + " rows on both sides, of different content"
	}
	return count(r.Source.Rows) + " rows in the source, " + count(r.Target.Rows) + " in the target"
}
