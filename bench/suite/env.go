package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/mariadbserver"
	"github.com/leatdata/leat/bench/peer"
	"github.com/leatdata/leat/bench/pgserver"
	"github.com/leatdata/leat/bench/process"
)

// Env is what cases run in.
type Env struct {
	// Leat is the binary to measure.
	Leat string
	// Data holds the generated files, Out job files and what is copied into files.
	Data, Out string
	// DuckDB is the folder that DuckDB is installed in.
	DuckDB string
	// Rows is the number of rows of the mixed table; the others go by it.
	Rows int

	jobs int
	// Servers start, and peers are looked for, when the first case needs them.
	postgres *pgserver.Server
	mariadb  *mariadbserver.Server
	duckdb   *peer.DuckDB
	software []string
	settings []string
}

// Close ends the servers.
func (e *Env) Close() error {
	var errs []error
	if e.postgres != nil {
		errs = append(errs, e.postgres.Stop())
	}
	if e.mariadb != nil {
		errs = append(errs, e.mariadb.Stop())
	}
	return errors.Join(errs...)
}

// Software names the servers and peers that were used, with their versions, and
// Settings how the servers were set.
func (e *Env) Software() []string { return e.software }

// Settings are those of the servers that were used.
func (e *Env) Settings() []string { return e.settings }

// job returns the command that runs a job with as many streams. Each call is a
// new job with state of its own; source and sink are in YAML, and so is what more
// the job says, in whole lines.
func (e *Env) job(source, sink string, streams int, more ...string) ([]process.Command, error) {
	e.jobs++
	name := "bench-" + strconv.Itoa(e.jobs)
	file := filepath.Join(e.Out, name+".yaml")
	lines := append([]string{
		"name: " + name, "source: " + source, "sink: " + sink, "parallelism: " + strconv.Itoa(streams),
	}, more...)
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("write the job file: %w", err)
	}
	state := filepath.Join(e.Out, "state")
	if err := os.RemoveAll(filepath.Join(state, name)); err != nil {
		return nil, fmt.Errorf("remove the state of an earlier job: %w", err)
	}
	return []process.Command{{
		Path: e.Leat,
		Args: []string{"run", file, "--state", state, "--progress", "none"},
	}}, nil
}

// leat is a contender of ours: it copies from source to sink, both in YAML.
func (e *Env) leat(name string, streams int, source, sink string, goals ...Goal) Contender {
	return Contender{Name: name, Streams: streams, Goals: goals, commands: func() ([]process.Command, error) {
		return e.job(source, sink, streams)
	}}
}

// files returns a table's files, and reads them once so that all contenders find
// them in memory.
func (e *Env) files(t dataset.Table, rows int) (dataset.Files, error) {
	f, err := t.Make(e.Data, rows)
	if err != nil {
		return f, err
	}
	for _, path := range []string{f.Whole, f.Halves[0], f.Halves[1]} {
		if err := warm(path); err != nil {
			return f, err
		}
	}
	return f, nil
}

// target is the folder into which files are copied, which reset makes empty.
func (e *Env) target() (folder string, reset func(context.Context) error) {
	folder = filepath.Join(e.Out, "target")
	return folder, func(context.Context) error {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		return os.MkdirAll(folder, 0o755)
	}
}
