package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// runOptions are the flags of run.
type runOptions struct {
	execution
	jobFile
}

func newRunCommand(env *Env) *cobra.Command {
	opts := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run JOB",
		Short: "Run a job file, going on with it where an unfinished run stands",
		Long: `Run a job file; - reads it from standard input.

An unfinished run is gone on with; a finished one begins anew. When source,
sink, columns or where have changed since an unfinished run, it is refused:
put them back, or give it up with --restart (in mode append, where rows of it
are in the target already, with --keep-rows too).`,
		Example: `  leat run orders.yaml
  leat run daily.yaml --set day=2024-01-31`,
		Args: arguments("a job file"),
		RunE: command(env, opts, runRun),
	}
	opts.execution.flags(cmd.Flags())
	opts.jobFile.flags(cmd.Flags())
	return cmd
}

// runRun is what `leat run` does.
func runRun(ctx context.Context, env *Env, opts *runOptions, args []string) error {
	j, err := opts.read(env, args[0])
	if err != nil {
		return err
	}
	var again strings.Builder
	again.WriteString("leat run " + quoteArg(args[0]))
	for _, s := range opts.set {
		again.WriteString(" --set " + quoteArg(s))
	}
	return opts.execute(ctx, env, j, again.String()+opts.stateFlag())
}

// stateFlag returns --state as it was given.
func (x *execution) stateFlag() string {
	if x.state == ".leat" {
		return ""
	}
	return " --state " + quoteArg(x.state)
}

// quoteArg quotes an argument for a shell where it needs it.
func quoteArg(arg string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:@%+,", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !safe(r) }) {
		return arg
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(arg, "'", `'\''`))
}
