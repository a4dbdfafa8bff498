package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/pgserver"
	"github.com/leatdata/leat/bench/process"
)

// Env is what cases run in.
type Env struct {
	Server *pgserver.Server
	// Leat is the binary to measure.
	Leat string
	// Data holds the generated files, Out job files and what is copied into files.
	Data, Out string
	// Rows is the number of rows of the mixed table; the others go by it.
	Rows int

	jobs int
}

// job returns the command that runs a job with as many streams. Each call is a
// new job with state of its own; source and sink are in YAML.
func (e *Env) job(source, sink string, streams int) ([]process.Command, error) {
	e.jobs++
	name := "bench-" + strconv.Itoa(e.jobs)
	file := filepath.Join(e.Out, name+".yaml")
	text := fmt.Sprintf("name: %s\nsource: %s\nsink: %s\nparallelism: %d\n", name, source, sink, streams)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
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

// sql runs statements one by one.
func (e *Env) sql(ctx context.Context, statements ...string) error {
	_, err := e.Server.Query(ctx, statements...)
	return err
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
