package suite

import (
	"context"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/process"
)

// unloads are the cases postgres → csv: one stream into one file, two into a
// folder.
func (e *Env) unloads() []Planned {
	return []Planned{{"postgres → csv, mixed", e.unload}}
}

func (e *Env) unload(ctx context.Context, name string) (Case, error) {
	t := dataset.Lineitem()
	f, err := e.files(t, e.Rows)
	if err != nil {
		return Case{}, err
	}
	if err := e.fill(ctx, t, f); err != nil {
		return Case{}, fmt.Errorf("fill the table to read: %w", err)
	}
	// Both forms of target lie in a folder that reset removes.
	root := filepath.Join(e.Out, "target")
	out := filepath.Join(root, "out")
	psql := func() ([]process.Command, error) {
		return []process.Command{e.Server.Psql("--command",
			fmt.Sprintf(`\copy (select * from %s) to '%s/psql.csv' (format csv, header)`, t.Name, out))}, nil
	}
	leat := func(target string, streams int) func() ([]process.Command, error) {
		return func() ([]process.Command, error) {
			return e.job(e.pgEndpoint(t.Name), fmt.Sprintf("{csv: {path: %q}}", target), streams)
		}
	}
	seed := maphash.MakeSeed()
	return Case{
		Name: name, Rows: e.Rows, Bytes: f.Bytes,
		Contenders: []Contender{
			{Name: `psql \copy`, Streams: 1, commands: psql},
			{Name: "leat, one file", Streams: 1, Goal: 1.0, commands: leat(filepath.Join(out, "leat.csv"), 1)},
			{Name: "leat, a folder", Streams: 2, Goal: 1.2, commands: leat(out+"/", 2)},
		},
		reset: func(context.Context) error {
			if err := os.RemoveAll(root); err != nil {
				return err
			}
			return os.MkdirAll(out, 0o755)
		},
		fingerprint: func(context.Context) (Fingerprint, error) {
			return linesFingerprint(seed, filepath.Join(out, "*.csv"), t.Header())
		},
	}, nil
}

// fill loads a table and leaves it as a table is that has been there for a
// while: its rows' visibility is noted, its statistics are made.
func (e *Env) fill(ctx context.Context, t dataset.Table, f dataset.Files) error {
	return e.sql(ctx, "DROP TABLE IF EXISTS "+t.Name, fmt.Sprintf("CREATE TABLE %s (%s)", t.Name, t.DDL()),
		fmt.Sprintf(`\copy %s from '%s' (format csv, header)`, t.Name, f.Whole),
		"VACUUM (FREEZE, ANALYZE) "+t.Name, "CHECKPOINT")
}
