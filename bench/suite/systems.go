package suite

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/leatdata/leat/bench/mariadbserver"
	"github.com/leatdata/leat/bench/peer"
	"github.com/leatdata/leat/bench/pgserver"
)

// targetDatabase is the database that copies between two databases of a server
// go into.
const targetDatabase = "target"

// pg returns PostgreSQL, which has a second database for copies.
func (e *Env) pg(ctx context.Context) (*pgserver.Server, error) {
	if e.postgres != nil {
		return e.postgres, nil
	}
	server, err := pgserver.Start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	e.postgres = server
	if _, err := server.Query(ctx, "CREATE DATABASE "+targetDatabase); err != nil {
		return nil, err
	}
	version, err := server.Query(ctx, "SHOW server_version")
	e.note("PostgreSQL, psql and pg_dump", version)
	e.settings = append(e.settings, "PostgreSQL "+strings.Join(pgserver.Settings(), ", "))
	return server, err
}

// maria returns MariaDB, which has a second database for copies.
func (e *Env) maria(ctx context.Context) (*mariadbserver.Server, error) {
	if e.mariadb != nil {
		return e.mariadb, nil
	}
	server, err := mariadbserver.Start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start MariaDB: %w", err)
	}
	e.mariadb = server
	if err := server.Create(ctx, targetDatabase); err != nil {
		return nil, err
	}
	version, err := server.Query(ctx, "SELECT version()")
	e.note("MariaDB and its clients", version)
	e.settings = append(e.settings, "MariaDB "+strings.Join(mariadbserver.Settings(), ", "))
	return server, err
}

// duck returns DuckDB.
func (e *Env) duck(ctx context.Context) (peer.DuckDB, error) {
	if e.duckdb != nil {
		return *e.duckdb, nil
	}
	found, err := peer.FindDuckDB(ctx, e.DuckDB)
	if err != nil {
		return found, err
	}
	e.duckdb = &found
	e.note("DuckDB", found.Version)
	return found, nil
}

func (e *Env) sqlite(ctx context.Context) (peer.SQLite, error) {
	found, err := peer.FindSQLite(ctx)
	e.note("sqlite3", found.Version)
	return found, err
}

func (e *Env) pgloader(ctx context.Context) (peer.PgLoader, error) {
	found, err := peer.FindPgLoader(ctx)
	e.note("pgloader", found.Version)
	return found, err
}

// note remembers what was used.
func (e *Env) note(name, version string) {
	text := name + " " + version
	if !slices.Contains(e.software, text) {
		e.software = append(e.software, text)
	}
}

// Check says whether leat has the connectors that cases need, and if not, which
// cases those are.
func (e *Env) Check(ctx context.Context, cases []Planned) error {
	out, err := exec.CommandContext(ctx, e.Leat, "connectors").CombinedOutput()
	if err != nil {
		return fmt.Errorf("ask leat for its connectors: %w\n%s", err, out)
	}
	has := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if name, _, ok := strings.Cut(line, " "); ok {
			has[name] = true
		}
	}
	var missing []string
	for _, c := range cases {
		for _, name := range c.Needs {
			if !has[name] {
				missing = append(missing, fmt.Sprintf("%s needs connector %s", c.Name, name))
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("leat lacks what cases need; choose others with -run, or their peers alone with -peers:\n  %s",
			strings.Join(missing, "\n  "))
	}
	return nil
}
