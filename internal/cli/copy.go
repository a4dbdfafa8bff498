package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/job"
)

// copyOptions are the flags of copy.
type copyOptions struct {
	execution
	mode        string
	format      string
	parallelism int
	print       bool
}

func newCopyCommand(env *Env) *cobra.Command {
	opts := &copyOptions{}
	cmd := &cobra.Command{
		Use:   "copy SOURCE TARGET",
		Short: "Copy from one URL or path to another, without a job file",
		Long: `Copy all records of SOURCE to TARGET. Each is a URL (postgres://…?table=t), a
file whose ending says what it holds, a folder (its name ends in /), or - for a
standard stream. Options stand behind the ? of a URL. A copy that was stopped
goes on when the same command is given again.`,
		Example: `  leat copy airports.csv 'postgres://user@host/db?table=airports'
  leat copy 'postgres://user@host/db?table=orders' out/
  leat copy 'mysql://user@host/db?table=orders' orders.parquet
  leat copy a.csv b.jsonl.gz
  leat copy a.csv - --format jsonl`,
		Args: arguments("a source", "a target"),
		RunE: command(env, opts, runCopy),
	}
	opts.flags(cmd.Flags())
	cmd.Flags().StringVar(&opts.mode, "mode", "", "what happens to what the target holds: its option `mode`")
	cmd.Flags().StringVar(&opts.format, "format", "", "`connector` of files and standard streams whose name does not say it; by default csv")
	cmd.Flags().IntVar(&opts.parallelism, "parallelism", 0, "`number` of subtasks; by default the processors, half of them between databases")
	cmd.Flags().BoolVar(&opts.print, "print", false, "print the job file that does the same, and copy nothing")
	return cmd
}

// runCopy is what `leat copy` does.
func runCopy(ctx context.Context, env *Env, opts *copyOptions, args []string) error {
	j, err := copyJob(env, opts, args[0], args[1])
	if err != nil {
		return err
	}
	if opts.print {
		_, err := fmt.Fprint(env.Stdout, j.YAML())
		return err
	}
	var again strings.Builder
	again.WriteString("leat copy " + quoteArg(option.MaskURL(args[0])) + " " + quoteArg(option.MaskURL(args[1])))
	for _, f := range []struct{ name, value string }{{"mode", opts.mode}, {"format", opts.format}} {
		if f.value != "" {
			again.WriteString(" --" + f.name + " " + quoteArg(f.value))
		}
	}
	return opts.execute(ctx, env, j, again.String()+opts.stateFlag())
}

// copyJob makes the job of copy's arguments. Its name is a hash of source and
// target, so that the same command finds its own state again.
func copyJob(env *Env, opts *copyOptions, from, to string) (*job.Job, error) {
	if opts.parallelism < 0 {
		return nil, usagef("--parallelism is a number from 1")
	}
	source, err := locate(env.Registry, from, formatFor(env, from, opts.format), false)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	target, err := locate(env.Registry, to, formatFor(env, to, opts.format), true)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	if opts.mode != "" {
		if target.Values == nil {
			target.Values = map[string]any{}
		}
		target.Values["mode"] = opts.mode
	}
	j, err := job.New("copy", source, target, env.Registry)
	if err != nil {
		return nil, err
	}
	name, err := copyName(j)
	if err != nil {
		return nil, err
	}
	j.Name, j.Parallelism = name, opts.parallelism
	return j, nil
}

// formatFor applies --format to the arguments that do not say what they hold.
func formatFor(env *Env, arg, format string) string {
	if format == "" || arg == "-" || strings.HasSuffix(arg, "/") {
		return format
	}
	if d, err := byPath(env.Registry, arg, ""); err == nil && d != nil {
		return ""
	}
	return format
}

// copyName hashes the two ends: their options without the mode, which may
// not change the state that is found, and the folder that paths start from.
func copyName(j *job.Job) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the current folder: %w", err)
	}
	parts := []string{dir}
	f := j.Fingerprint()
	for _, side := range []job.SidePrint{f.Source, f.Sink} {
		parts = append(parts, side.Connector)
		for _, name := range slices.Sorted(maps.Keys(side.Options)) {
			if name != "mode" {
				parts = append(parts, name+"\x00"+side.Options[name])
			}
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x01")))
	return "copy-" + hex.EncodeToString(sum[:6]), nil
}
