package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/job"
)

func newValidateCommand(env *Env) *cobra.Command {
	opts := &inspection{}
	cmd := &cobra.Command{
		Use:   "validate JOB",
		Short: "Connect and say what a job would do, changing nothing",
		Args:  arguments("a job file"),
		RunE:  command(env, opts, runValidate),
	}
	opts.flags(cmd.Flags())
	return cmd
}

// runValidate is what `leat validate` does.
func runValidate(ctx context.Context, env *Env, opts *inspection, args []string) error {
	return opts.inspect(env, args[0], func(j *job.Job, log *slog.Logger, out io.Writer) error {
		report, err := local.New(local.Deps{Registry: env.Registry, Log: log}).Validate(ctx, j)
		if err != nil {
			return err
		}
		return printReport(out, j, report)
	})
}

// printReport says what a job would do.
func printReport(w io.Writer, j *job.Job, r local.Report) error {
	p := &printer{w: w}
	p.printf("job %s: %s to %s\n\n", j.Name, j.Source.Connector, j.Sink.Connector)
	p.err = printColumns(w, r.Columns)
	p.printf("\nsplits: %s\n", splitsText(r))
	p.printf("parallelism: %d\n", r.Parallelism)
	if limit := limitText(r.Limit); limit != "" {
		p.printf("limit: %s, of the whole job\n", limit)
	}
	p.printf("commits: %s\n", r.Guarantee)
	if r.Creates {
		p.printf("the target does not exist and will be made\n")
	}
	if r.Filter != "" {
		p.printf("where: runs %s\n", r.Filter)
	}
	for _, section := range []struct {
		title string
		lines []string
	}{
		{"source", r.Source},
		{"sink", r.Sink},
		{"statements to run", r.Statements},
		{"doubts", append(append([]string{}, r.Doubts...), j.Warnings...)},
	} {
		if len(section.lines) == 0 {
			continue
		}
		p.printf("\n%s:\n", section.title)
		for _, line := range section.lines {
			p.printf("  %s\n", strings.ReplaceAll(strings.TrimSpace(line), "\n", "\n  "))
		}
	}
	return p.err
}

func printColumns(w io.Writer, columns []local.ReportColumn) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	p := &printer{w: table}
	p.printf("source\ttype\ttarget\ttype\n")
	for _, c := range columns {
		p.printf("%s\t%s\t%s\t%s\n", c.From, c.FromType, c.To, c.ToType)
	}
	if p.err == nil {
		p.err = table.Flush()
	}
	if p.err != nil {
		return p.err
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func splitsText(r local.Report) string {
	text := count(int64(r.Splits))
	if !r.AllSplits {
		text = "more than " + text
	}
	if r.Bytes > 0 {
		text += ", " + size(r.Bytes)
	}
	if r.Rows > 0 {
		text += fmt.Sprintf(", about %s rows", count(r.Rows))
	}
	return text
}
