package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/job"
)

// Main runs the command line and returns the exit code. A cancelled ctx
// interrupts the command, which keeps its state.
func Main(ctx context.Context, args []string, env Env) int {
	root := newRoot(&env)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if _, ok := err.(*ranError); !ok { //nolint:errorlint // cobra gives our own error back as it is
		err = connector.Errorf(connector.Usage, "%w\nsee: %s --help", err, cmd.CommandPath())
	}
	if text := errorText(err); text != "" {
		_, _ = fmt.Fprintln(env.Stderr, text)
	}
	return exitCode(ctx, err)
}

// ranError marks an error of a command itself, as against one of its use.
type ranError struct {
	error
	// redact takes the job's secrets out of the text; nil before there is a job.
	redact func(string) string
}

// redacted marks an error of a job that was run or looked at; nil stays nil.
func redacted(j *job.Job, err error) error {
	if err == nil {
		return nil
	}
	return &ranError{error: err, redact: j.Redact}
}

// Unwrap returns the command's error.
func (e *ranError) Unwrap() error { return e.error }

// errorText returns an error as it is printed: a line each, without secrets and
// what was said just before, as by each try of a connection.
func errorText(err error) string {
	redact := option.MaskURL
	if ran, ok := err.(*ranError); ok && ran.redact != nil { //nolint:errorlint // Main has it as it is
		redact = ran.redact
	}
	var lines []string
	for line := range strings.SplitSeq(redact(err.Error()), "\n") {
		line = "leat: " + strings.TrimSpace(line)
		if line != "leat: " && (len(lines) == 0 || lines[len(lines)-1] != line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "leat",
		Short: "Copy records between databases and files, each exactly once",
		Long: `Leat copies records between databases and files. A job that was stopped, by a
crash or by you, goes on where it stood, and the target has each record once.

Exit codes: 0 done; 1 the job failed; 2 wrong use or job file; 3 the limit of
dirty records was passed; 130 interrupted, with the state kept. Those of elect are
the command's.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.AddCommand(
		newRunCommand(env), newCopyCommand(env), newValidateCommand(env), newVerifyCommand(env),
		newConnectorsCommand(env), newConfigCommand(env), newElectCommand(env), newWatcherCommand(env), newVersionCommand(env),
	)
	return root
}

// command makes a cobra command's RunE of what a command does with its flags,
// so that its errors are told from those of cobra.
func command[O any](env *Env, opts *O, run func(ctx context.Context, env *Env, opts *O, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd.Context(), env, opts, args)
		if err == nil {
			return nil
		}
		if ran, ok := err.(*ranError); ok { //nolint:errorlint // made just below us
			return ran
		}
		return &ranError{error: err}
	}
}

// noOptions are the flags of a command that has none.
type noOptions struct{}

// printer writes lines and remembers the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
