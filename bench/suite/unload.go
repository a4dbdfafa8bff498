package suite

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/pgserver"
)

// unloads are the cases postgres → csv: one stream into one file, two into a
// folder.
func (e *Env) unloads() []Planned {
	return []Planned{{"postgres → csv", "postgres → csv, mixed", []string{"csv", "postgres"}, e.unload}}
}

func (e *Env) unload(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	server, f, err := e.filledPg(ctx, t, e.Rows)
	if err != nil {
		return Case{}, err
	}
	out, reset := e.target()
	psql := server.Psql("--command",
		fmt.Sprintf(`\copy (select * from %s) to '%s/psql.csv' (format csv, header)`, t.Name, out))
	source := pgAt(server, t.Name)
	return Case{
		Rows: f.Rows, Bytes: f.Bytes, servers: []int{server.Pid()},
		Contenders: []Contender{
			{Name: psqlCopy, Streams: 1, commands: command(psql)},
			e.leat("leat, one file", 1, source, csvAt(filepath.Join(out, "leat.csv")), Goal{Against: psqlCopy, Speed: 1.0}),
			e.leat("leat, a folder", 2, source, csvAt(filepath.Join(out, "parts")+"/"), Goal{Against: psqlCopy, Speed: 1.2}),
		},
		reset:       reset,
		fingerprint: linesFingerprint(csvFiles(out), t.Header()),
	}, nil
}

// filledPg returns PostgreSQL with a table that is as one is that has been there
// for a while: its rows' visibility is noted, its statistics are made.
func (e *Env) filledPg(ctx context.Context, t dataset.Table, rows int) (*pgserver.Server, dataset.Files, error) {
	server, err := e.pg(ctx)
	if err != nil {
		return nil, dataset.Files{}, err
	}
	f, err := e.files(t, rows)
	if err != nil {
		return nil, f, err
	}
	if _, err := server.Query(ctx, "DROP TABLE IF EXISTS "+t.Name, fmt.Sprintf("CREATE TABLE %s (%s)", t.Name, t.DDL()),
		fmt.Sprintf(`\copy %s from '%s' (format csv, header)`, t.Name, f.Whole),
		"VACUUM (FREEZE, ANALYZE) "+t.Name, "CHECKPOINT"); err != nil {
		return nil, f, fmt.Errorf("fill the table to read: %w", err)
	}
	return server, f, nil
}
