// Command bench measures leat against the tools that people use today, on this
// machine, and writes what it finds into docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/leatdata/leat/bench/report"
	"github.com/leatdata/leat/bench/suite"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	rows, rounds int
	only         *regexp.Regexp
	peers        bool
	leat         string
	data, out    string
	duckdb       string
	document     string
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{only: regexp.MustCompile("")}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.rows, "rows", 3_000_000, "rows of the mixed table; narrow has 10/3, wide 1/6 of them; with MariaDB and SQLite 1/3, beside pgloader 1/10")
	flags.IntVar(&o.rounds, "pairs", 5, "rounds in which the contenders run one after the other")
	flags.Func("run", "run the cases whose names match this `pattern`, and leave the document alone", func(text string) error {
		var err error
		o.only, err = regexp.Compile(text)
		return err
	})
	flags.BoolVar(&o.peers, "peers", false, "run the peers alone, without leat, and leave the document alone")
	flags.StringVar(&o.leat, "leat", "", "`path` of the binary to measure; without it, it is built")
	flags.StringVar(&o.data, "data", "data", "`folder` that keeps the generated tables")
	flags.StringVar(&o.out, "out", "out", "`folder` for job files, state and what is copied into files; emptied")
	flags.StringVar(&o.duckdb, "duckdb", "duckdb", "`folder` that DuckDB is installed in")
	flags.StringVar(&o.document, "doc", "../docs/performance.md", "`document` to write the figures into; none when empty")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.rows < 1000 || o.rounds < 1 {
		return o, errors.New("bench takes flags only, at least 1000 rows and a pair")
	}
	if o.only.String() != "" || o.peers {
		o.document = ""
	}
	for _, path := range []*string{&o.data, &o.out, &o.duckdb} {
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return o, err
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(o.out), os.MkdirAll(o.out, 0o755)); err != nil {
		return fmt.Errorf("make the folder for results: %w", err)
	}
	if o.leat == "" && !o.peers {
		if o.leat, err = build(ctx, o.out); err != nil {
			return err
		}
	}
	env := &suite.Env{Leat: o.leat, Data: o.data, Out: o.out, DuckDB: o.duckdb, Rows: o.rows}
	defer func() { err = errors.Join(err, env.Close()) }()
	r, failed := measure(ctx, o, env, stderr)
	if len(r.Results) == 0 {
		return failed
	}
	r.Command = "make bench"
	if len(args) > 0 {
		r.Command = fmt.Sprintf("cd bench && go run . -rows %d -pairs %d", o.rows, o.rounds)
	}
	text := r.Markdown()
	fmt.Fprintln(stdout, text)
	if failed != nil {
		return failed
	}
	if o.document != "" {
		if err := report.Replace(o.document, text); err != nil {
			return fmt.Errorf("write the figures into %s: %w", o.document, err)
		}
	}
	if missed := r.Missed(); len(missed) > 0 {
		return fmt.Errorf("missed:\n  %s", strings.Join(missed, "\n  "))
	}
	return nil
}

// build builds leat as users do.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "leat")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/leat")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build leat: %w\n%s", err, out)
	}
	return binary, nil
}

// measure runs the cases. One that fails does not keep the others from running;
// its error comes with what they have taken.
func measure(ctx context.Context, o options, env *suite.Env, progress io.Writer) (report.Report, error) {
	r := report.Report{
		Rounds: o.rounds, Machine: report.Inspect(ctx),
		Limits: report.Limits{Start: 300 * time.Millisecond, SmallRows: suite.SmallRows, MaxRSS: 100e6, MaxRSSParquet: 250e6},
	}
	plan := slices.DeleteFunc(env.Plan(), func(p suite.Planned) bool { return !o.only.MatchString(p.Name) })
	if len(plan) == 0 {
		return r, fmt.Errorf("no case matches %q", o.only)
	}
	if !o.peers {
		if err := env.Check(ctx, plan); err != nil {
			return r, err
		}
	}
	var failed []error
	for _, planned := range plan {
		result, err := runCase(ctx, o, env, planned, progress)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			fmt.Fprintln(progress, err)
			failed = append(failed, err)
			continue
		}
		r.Results = append(r.Results, result)
	}
	r.Software, r.Settings = env.Software(), env.Settings()
	return r, errors.Join(failed...)
}

func runCase(ctx context.Context, o options, env *suite.Env, planned suite.Planned, progress io.Writer) (suite.Result, error) {
	c, err := planned.Make(ctx)
	if err != nil {
		return suite.Result{}, fmt.Errorf("prepare %s: %w", planned.Name, err)
	}
	if o.peers {
		c = c.WithoutLeat()
	}
	return env.Run(ctx, c, o.rounds, progress)
}
