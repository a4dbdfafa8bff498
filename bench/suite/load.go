package suite

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/pgserver"
	"github.com/leatdata/leat/bench/process"
)

// SmallRows is the size of the job whose time is all start and end.
const SmallRows = 10

// psqlCopy is the peer of copies between PostgreSQL and CSV.
const psqlCopy = `psql \copy`

// load is a case csv → postgres: into an empty table without keys.
type load struct {
	name     string
	table    dataset.Table
	rows     int
	kind     string
	one, two float64
}

// loads are the cases csv → postgres.
func (e *Env) loads() []Planned {
	const group = "csv → postgres"
	needs := []string{"csv", "postgres"}
	plan := []Planned{
		{group, "csv → postgres, 10 rows", needs, e.small},
		{group, "csv → postgres, mixed, beside pgloader", needs, e.loadBesidePgloader},
	}
	for _, l := range []load{
		{"mixed", dataset.Lineitem(), e.Rows, "UNLOGGED", 1.4, 1.9},
		{"narrow", dataset.Narrow(), e.Rows * 10 / 3, "UNLOGGED", 2.3, 2.6},
		{"wide", dataset.Wide(), e.Rows / 6, "UNLOGGED", 1.5, 1.8},
		{"mixed, logged", dataset.Lineitem(), e.Rows, "", 0, 0},
	} {
		plan = append(plan, Planned{group, "csv → postgres, " + l.name, needs, func(ctx context.Context) (Case, error) {
			return e.load(ctx, l)
		}})
	}
	return plan
}

// small is the case of a job with ten rows.
func (e *Env) small(ctx context.Context) (Case, error) {
	c, err := e.load(ctx, load{table: dataset.Lineitem(), rows: SmallRows, kind: "UNLOGGED"})
	if err != nil {
		return c, err
	}
	c.Contenders = c.Contenders[:2]
	return c, nil
}

func (e *Env) load(ctx context.Context, l load) (Case, error) {
	server, err := e.pg(ctx)
	if err != nil {
		return Case{}, err
	}
	f, err := e.files(l.table, l.rows)
	if err != nil {
		return Case{}, err
	}
	psql := func(path string) process.Command {
		return server.Psql("--command", fmt.Sprintf(`\copy %s from '%s' (format csv, header)`, l.table.Name, path))
	}
	halves := func() ([]process.Command, error) {
		return []process.Command{psql(f.Halves[0]), psql(f.Halves[1])}, nil
	}
	source, sink := csvAt(f.Whole), pgAt(server, l.table.Name)
	return Case{
		Rows: l.rows, Bytes: f.Bytes, servers: []int{server.Pid()},
		Contenders: []Contender{
			{Name: psqlCopy, Streams: 1, commands: command(psql(f.Whole))},
			e.leat("leat", 1, source, sink, Goal{Against: psqlCopy, Speed: l.one}),
			e.leat("leat", 2, source, sink, Goal{Against: psqlCopy, Speed: l.two}),
			{Name: `2 × psql \copy, halves`, Streams: 2, commands: halves},
		},
		reset:       resetPg(server, l.table.Name, l.kind, l.table.DDL()),
		fingerprint: pgFingerprint(server, l.table.Name),
	}, nil
}

// loadBesidePgloader is a case of fewer rows, for pgloader takes long.
func (e *Env) loadBesidePgloader(ctx context.Context) (Case, error) {
	c, err := e.load(ctx, load{table: dataset.Lineitem(), rows: e.Rows / 10, kind: "UNLOGGED"})
	if err != nil {
		return c, err
	}
	pgloader, err := e.pgloader(ctx)
	if err != nil {
		return c, err
	}
	t := dataset.Lineitem()
	f, err := e.files(t, c.Rows)
	if err != nil {
		return c, err
	}
	load, err := pgloader.Command(filepath.Join(e.Out, "pgloader"), fmt.Sprintf(`LOAD CSV
FROM '%s' (%s)
INTO %s
TARGET TABLE %s (%[2]s)
WITH skip header = 1, fields optionally enclosed by '"', fields terminated by ','
;
`, f.Whole, t.Names(), e.postgres.URL(), t.Name))
	if err != nil {
		return c, err
	}
	goal := Goal{Against: "pgloader", Speed: 10}
	c.Contenders[0] = Contender{Name: goal.Against, Streams: 1, commands: command(load)}
	c.Contenders[1].Goals = []Goal{goal}
	c.Contenders = c.Contenders[:2]
	return c, nil
}

// csvAt is a CSV file or folder as a source or a sink, in YAML.
func csvAt(path string) string { return fmt.Sprintf("{csv: {path: %q}}", path) }

// typedCSVAt is a CSV file as a source whose columns' types are told, in YAML.
func typedCSVAt(path string, t dataset.Table) string {
	return fmt.Sprintf("{csv: {path: %q, types: %s}}", path, t.Leat())
}

// pgAt is a table of the server as a source or a sink, in YAML.
func pgAt(server *pgserver.Server, table string) string {
	return fmt.Sprintf("{postgres: {url: %q, table: %q}}", server.URL(), table)
}

// resetPg makes an empty table anew.
func resetPg(server *pgserver.Server, table, kind, columns string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := server.Query(ctx, "DROP TABLE IF EXISTS "+table,
			fmt.Sprintf("CREATE %s TABLE %s (%s)", kind, table, columns), "CHECKPOINT")
		return err
	}
}
