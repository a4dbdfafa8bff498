package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/peer"
)

// sqlites are the cases with SQLite, on a third of the rows.
func (e *Env) sqlites() []Planned {
	const group = "csv ↔ sqlite"
	needs := []string{"csv", "sqlite"}
	return []Planned{
		{group, "csv → sqlite, mixed", needs, e.toSQLite},
		{group, "sqlite → csv, mixed", needs, e.fromSQLite},
	}
}

func (e *Env) toSQLite(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	sqlite, f, err := e.sqliteAndFiles(ctx, t)
	if err != nil {
		return Case{}, err
	}
	out, reset := e.target()
	file := filepath.Join(out, t.Name+".db")
	source, sink := csvAt(f.Whole), sqliteAt(file, t.Name)
	return Case{
		Rows: f.Rows, Bytes: f.Bytes,
		Contenders: []Contender{
			{Name: "sqlite3 .import", Streams: 1, commands: command(sqlite.Command(file, importCSV(t, f.Whole)))},
			e.leat("leat", 1, source, sink),
			e.leat("leat", 2, source, sink),
		},
		reset: func(ctx context.Context) error {
			if err := reset(ctx); err != nil {
				return err
			}
			_, err := sqlite.Query(ctx, file, createSQLite(t))
			return err
		},
		fingerprint: sqliteFingerprint(sqlite, file, t),
	}, nil
}

func (e *Env) fromSQLite(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	sqlite, f, err := e.sqliteAndFiles(ctx, t)
	if err != nil {
		return Case{}, err
	}
	from := filepath.Join(e.Out, "source.db")
	if err := os.RemoveAll(from); err != nil {
		return Case{}, err
	}
	if _, err := sqlite.Query(ctx, from, createSQLite(t), importCSV(t, f.Whole), "ANALYZE"); err != nil {
		return Case{}, fmt.Errorf("fill the table to read: %w", err)
	}
	if err := warm(from); err != nil {
		return Case{}, err
	}
	out, reset := e.target()
	shell := sqlite.Command("-csv", "-header", from, fmt.Sprintf(".once '%s/sqlite3.csv'", out), "SELECT * FROM "+t.Name)
	source := sqliteAt(from, t.Name)
	return Case{
		Rows: f.Rows, Bytes: f.Bytes,
		Contenders: []Contender{
			{Name: "sqlite3 -csv", Streams: 1, commands: command(shell)},
			e.leat("leat, one file", 1, source, csvAt(filepath.Join(out, "leat.csv"))),
			e.leat("leat, a folder", 2, source, csvAt(filepath.Join(out, "parts")+"/")),
		},
		reset:       reset,
		fingerprint: recordsFingerprint(csvFiles(out), t.Header()),
	}, nil
}

func (e *Env) sqliteAndFiles(ctx context.Context, t dataset.Table) (peer.SQLite, dataset.Files, error) {
	sqlite, err := e.sqlite(ctx)
	if err != nil {
		return sqlite, dataset.Files{}, err
	}
	f, err := e.files(t, e.Rows/3)
	return sqlite, f, err
}

func createSQLite(t dataset.Table) string {
	return fmt.Sprintf("CREATE TABLE %s (%s)", t.Name, t.SQLite())
}

// importCSV is the command that loads a table's CSV file.
func importCSV(t dataset.Table, path string) string {
	return fmt.Sprintf(".import --csv --skip 1 '%s' %s", path, t.Name)
}

// sqliteAt is a table of a file as a source or a sink, in YAML.
func sqliteAt(path, table string) string {
	return fmt.Sprintf("{sqlite: {path: %q, table: %q}}", path, table)
}
