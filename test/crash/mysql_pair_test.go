package crash

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

const mysqlTable = `(id INT PRIMARY KEY, name LONGTEXT, amount DECIMAL(20,2), at DATETIME(6))`

// mysqlRows returns a table as CSV records, as the source has them.
func mysqlRows(t *testing.T, url, name string) []string {
	t.Helper()
	rows := testenv.MariaDB(t).Rows(t, url, fmt.Sprintf(`SELECT CONCAT(id, ',',
		CASE WHEN name = '' OR name REGEXP '[",\n]' THEN CONCAT('"', REPLACE(name, '"', '""'), '"') ELSE COALESCE(name, '') END,
		',', COALESCE(amount, ''), ',', COALESCE(REPLACE(at, '.000000', ''), '')) FROM %s`, name))
	got := make([]string, len(rows))
	for i, row := range rows {
		got[i] = row[0]
	}
	return got
}

// mysqlLeft lists what a finished run must have taken away: positions, an open
// marker, a staging table.
func mysqlLeft(t *testing.T, url string) []string {
	t.Helper()
	return testenv.MariaDB(t).Lines(t, url, `SELECT CONCAT('position of split ', split) FROM leat_positions
		UNION ALL SELECT CONCAT('open run ', run) FROM leat_runs WHERE NOT outcome <=> 'finished'
		UNION ALL SELECT CONCAT('table ', table_name) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'leat_staging%'`)
}

// fillMySQL makes a table of the records.
func fillMySQL(t *testing.T, url string) []string {
	t.Helper()
	server := testenv.MariaDB(t)
	server.Exec(t, url, "CREATE TABLE source "+mysqlTable)
	server.Exec(t, url, fmt.Sprintf(`INSERT INTO source SELECT seq,
		CASE seq %% 5 WHEN 0 THEN CONCAT('a "quoted" one, ', seq) WHEN 1 THEN CONCAT('two\nlines ', seq) WHEN 2 THEN NULL WHEN 3 THEN '' ELSE CONCAT('plain ', seq) END,
		CASE seq %% 5 WHEN 0 THEN seq + (seq %% 100) / 100.0 WHEN 1 THEN -(seq + 0.5) WHEN 2 THEN NULL WHEN 3 THEN 0 ELSE 99999999999999.99 END,
		CASE seq %% 5 WHEN 2 THEN NULL ELSE TIMESTAMP('2024-02-29 12:00:00') + INTERVAL (seq * 10 + 1) MICROSECOND END
		FROM seq_0_to_%d`, rows-1))
	return mysqlRows(t, url, "source")
}

// mysqlTarget makes the target of a mode, and a scene without a source.
func mysqlTarget(t *testing.T, mode string) (sink string, s scene) {
	t.Helper()
	server := testenv.MariaDB(t)
	url := server.Database(t)
	create := mysqlTable
	if mode != "upsert" {
		create = strings.Replace(create, " PRIMARY KEY", "", 1)
	}
	if mode != "overwrite" { // which makes it, and so renames
		server.Exec(t, url, "CREATE TABLE target "+create)
	}
	return fmt.Sprintf("sink: {mysql: {url: %q, table: target, mode: %s}}\nparallelism: 2", url, mode), scene{
		target: func() []string { return mysqlRows(t, url, "target") },
		left:   func() []string { return mysqlLeft(t, url) },
		again:  mode != "append",
	}
}

func csvToMySQL(t *testing.T, from *sources, mode string) scene {
	sink, s := mysqlTarget(t, mode)
	s.want = from.records
	s.job = fmt.Sprintf("name: j\nsource: {csv: {path: %s, split_size: 40KiB}}\n%s%s", from.csv, sink, often)
	return s
}

func postgresToMySQL(t *testing.T, from *sources, mode string) scene {
	sink, s := mysqlTarget(t, mode)
	s.want = from.postgresRows
	s.job = fmt.Sprintf("name: j\nsource: {postgres: {url: %q, table: source}}\n%s%s", from.postgres, sink, often)
	return s
}

func mysqlToPostgres(t *testing.T, from *sources) scene {
	pg := testenv.Postgres(t)
	to := pg.Database(t)
	pg.Exec(t, to, "CREATE TABLE target "+strings.Replace(table, " primary key", "", 1))
	return scene{
		job: fmt.Sprintf("name: j\nsource: {mysql: {url: %q, table: source, split_rows: 900}}\nsink: {postgres: {url: %q, table: target, mode: append}}\nparallelism: 2",
			from.mysql, to) + often,
		target: func() []string { return pgRows(t, to, "target") },
		left:   func() []string { return pgLeft(t, to) },
		want:   from.mysqlRows,
	}
}

func mysqlToCSV(t *testing.T, from *sources) scene {
	dir := t.TempDir()
	return scene{
		job: fmt.Sprintf("name: j\nsource: {mysql: {url: %q, table: source, split_rows: 900}}\nsink: {csv: {path: %s/, mode: overwrite}}\nparallelism: 2",
			from.mysql, filepath.Join(dir, "out")) + often,
		target: func() []string { return csvFolder(t, filepath.Join(dir, "out")) },
		left:   func() []string { return filesLeft(t, filepath.Join(dir, "out")) },
		want:   from.mysqlRows,
		again:  true,
	}
}

// servers are the addresses of the database servers that a pair takes part with.
func (p pair) servers(t *testing.T) (addrs []string) {
	t.Helper()
	if strings.Contains(p.name, "postgres") {
		addrs = append(addrs, testenv.Postgres(t).Addr())
	}
	if strings.Contains(p.name, "mysql") {
		addrs = append(addrs, testenv.MariaDB(t).Addr())
	}
	return addrs
}

// fences reports whether the pair's target ends who holds its rows.
func (p pair) fences() bool {
	return strings.Contains(p.name, "to postgres") || strings.Contains(p.name, "to mysql")
}
