package suite

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/mariadbserver"
	"github.com/leatdata/leat/bench/process"
)

// Peers of copies that MariaDB has part in.
const (
	pgloaderName = "pgloader"
	mariadbBatch = "mariadb --batch | psql"
	mysqlDump    = "mysqldump | mariadb, from MariaDB"
	loadData     = "LOAD DATA LOCAL"
)

// mysqls are the cases with MariaDB, on a third of the rows. Its tables have a
// primary key, as tables of InnoDB do, in whose order the rows come.
func (e *Env) mysqls() []Planned {
	const group = "mysql"
	return []Planned{
		{group, "mysql → postgres, mixed", []string{"mysql", "postgres"}, e.mysqlToPostgres},
		{group, "postgres → mysql, mixed", []string{"mysql", "postgres"}, e.postgresToMySQL},
		{group, "csv → mysql, mixed", []string{"csv", "mysql"}, e.csvToMySQL},
	}
}

func (e *Env) mysqlToPostgres(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	maria, f, err := e.filledMaria(ctx, t)
	if err != nil {
		return Case{}, err
	}
	server, err := e.pg(ctx)
	if err != nil {
		return Case{}, err
	}
	pgloader, err := e.pgloader(ctx)
	if err != nil {
		return Case{}, err
	}
	target := server.In(targetDatabase)
	load, err := pgloader.Command(filepath.Join(e.Out, "pgloader"), fmt.Sprintf(`LOAD DATABASE
FROM %s
INTO %s
WITH data only
INCLUDING ONLY TABLE NAMES MATCHING '%s'
ALTER SCHEMA 'bench' RENAME TO 'public'
;
`, maria.URL(), target.URL(), t.Name))
	if err != nil {
		return Case{}, err
	}
	batch := pipe(
		maria.Client("--batch", "--quick", "--skip-column-names", "--execute=SELECT * FROM "+t.Name),
		target.Psql("--command", fmt.Sprintf(`\copy %s from pstdin (null 'NULL')`, t.Name)))
	source, sink := mysqlAt(maria, t.Name), pgAt(target, t.Name)
	return Case{
		Rows: f.Rows, Bytes: f.Bytes, servers: []int{server.Pid(), maria.Pid()},
		Contenders: []Contender{
			{Name: pgloaderName, Streams: 1, commands: command(load)},
			{Name: mariadbBatch, Streams: 1, commands: command(batch)},
			e.leat("leat", 1, source, sink, Goal{Against: pgloaderName, Speed: 3.5}, Goal{Against: mariadbBatch, Speed: 1.0}),
			// A goal of nothing has the ratio shown.
			e.leat("leat", 2, source, sink, Goal{Against: pgloaderName}, Goal{Against: mariadbBatch}),
		},
		reset:       resetPg(target, t.Name, "UNLOGGED", t.DDL()),
		fingerprint: pgFingerprint(target, t.Name),
	}, nil
}

// postgresToMySQL has a peer that cannot read PostgreSQL: mysqldump copies the
// same rows from another database of MariaDB.
func (e *Env) postgresToMySQL(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	maria, f, err := e.filledMaria(ctx, t)
	if err != nil {
		return Case{}, err
	}
	server, _, err := e.filledPg(ctx, t, f.Rows)
	if err != nil {
		return Case{}, err
	}
	target := maria.In(targetDatabase)
	dump := pipe(maria.Dump([]string{"--no-create-info"}, t.Name), target.Client())
	text := pipe(
		server.Psql("--command", fmt.Sprintf(`\copy %s to pstdout`, t.Name)),
		target.Client("--local-infile=1", "--execute=LOAD DATA LOCAL INFILE '/dev/stdin' INTO TABLE "+t.Name+" CHARACTER SET utf8mb4"))
	source, sink := pgAt(server, t.Name), mysqlAt(target, t.Name)
	return Case{
		Rows: f.Rows, Bytes: f.Bytes, servers: []int{server.Pid(), maria.Pid()},
		Contenders: []Contender{
			{Name: mysqlDump, Streams: 1, commands: command(dump)},
			e.leat("leat", 1, source, sink, Goal{Against: mysqlDump, Speed: 1.8}),
			e.leat("leat", 2, source, sink, Goal{Against: mysqlDump, Speed: 2.2}),
			{Name: `psql \copy | LOAD DATA LOCAL`, Streams: 1, commands: command(text)},
		},
		reset:       resetMaria(target, t),
		fingerprint: mariaFingerprint(target, t),
	}, nil
}

func (e *Env) csvToMySQL(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	maria, err := e.maria(ctx)
	if err != nil {
		return Case{}, err
	}
	f, err := e.files(t, e.Rows/3)
	if err != nil {
		return Case{}, err
	}
	target := maria.In(targetDatabase)
	load := func(path string) process.Command {
		return target.Client("--local-infile=1", "--execute="+loadCSV(t, path))
	}
	halves := func() ([]process.Command, error) {
		return []process.Command{load(f.Halves[0]), load(f.Halves[1])}, nil
	}
	source, sink := csvAt(f.Whole), mysqlAt(target, t.Name)
	return Case{
		Rows: f.Rows, Bytes: f.Bytes, servers: []int{maria.Pid()},
		Contenders: []Contender{
			{Name: loadData, Streams: 1, commands: command(load(f.Whole))},
			e.leat("leat", 1, source, sink, Goal{Against: loadData, Speed: 0.95}),
			e.leat("leat", 2, source, sink),
			{Name: "2 × LOAD DATA LOCAL, halves", Streams: 2, commands: halves},
		},
		reset:       resetMaria(target, t),
		fingerprint: mariaFingerprint(target, t),
	}, nil
}

// filledMaria returns MariaDB with a table to read.
func (e *Env) filledMaria(ctx context.Context, t dataset.Table) (*mariadbserver.Server, dataset.Files, error) {
	server, err := e.maria(ctx)
	if err != nil {
		return nil, dataset.Files{}, err
	}
	f, err := e.files(t, e.Rows/3)
	if err != nil {
		return nil, f, err
	}
	if err := resetMaria(server, t)(ctx); err != nil {
		return nil, f, err
	}
	if _, err := server.Query(ctx, loadCSV(t, f.Whole), "ANALYZE TABLE "+t.Name); err != nil {
		return nil, f, fmt.Errorf("fill the table to read: %w", err)
	}
	return server, f, nil
}

// loadCSV is the statement that loads a table's CSV file.
func loadCSV(t dataset.Table, path string) string {
	return fmt.Sprintf("LOAD DATA LOCAL INFILE '%s' INTO TABLE %s CHARACTER SET utf8mb4 "+
		`FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '' IGNORE 1 LINES`, path, t.Name)
}

// mysqlAt is a table of the server as a source or a sink, in YAML.
func mysqlAt(server *mariadbserver.Server, table string) string {
	return fmt.Sprintf("{mysql: {url: %q, table: %q}}", server.URL(), table)
}

// resetMaria makes an empty table anew.
func resetMaria(server *mariadbserver.Server, t dataset.Table) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := server.Query(ctx, "DROP TABLE IF EXISTS "+t.Name,
			fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (orderkey, linenumber)) ENGINE=InnoDB", t.Name, t.MariaDB()))
		return err
	}
}
