package crash

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// rows is the size of the tables that are copied: enough for several splits
// and many commits, at the checkpoint interval of these tests.
const rows = 6000

// pair is a job from one connector to another.
type pair struct {
	name string
	// points are the named points that a run of it passes.
	points []string
	// setUp makes a target, and returns the job and a function that returns
	// the target's rows.
	setUp func(t *testing.T) scene
}

// marks reports whether a run of the pair leaves its mark in the target until
// it has stored its end.
func (p pair) marks() bool {
	return strings.Contains(p.name, "to csv") || strings.Contains(p.name, "to parquet")
}

// scene is a pair set up in a place of its own.
type scene struct {
	job string
	// target reads the rows; left lists what a run has left beside them.
	target func() []string
	left   func() []string
	want   []string
	// again says that another run adds no rows.
	again bool
}

// record is the i-th record as CSV, with quotes, newlines, NULL and ” in it.
func record(i int) string {
	switch i % 5 {
	case 0:
		return fmt.Sprintf(`%d,"a ""quoted"" one, %d",%d.%02d,2024-02-29 12:00:00.%06d`, i, i, i, i%100, i*10+1)
	case 1:
		return fmt.Sprintf("%d,\"two\nlines %d\",-%d.50,1999-12-31 23:59:59", i, i, i)
	case 2:
		return fmt.Sprintf(`%d,,,`, i)
	case 3:
		return fmt.Sprintf(`%d,"",0.00,0044-03-15 00:00:00`, i)
	default:
		return fmt.Sprintf(`%d,plain %d,99999999999999.99,2024-01-01 00:00:00`, i, i)
	}
}

const header = "id,name,amount,at"

// writeCSV writes the source and returns its records.
func writeCSV(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, header)
	want := make([]string, rows)
	for i := range rows {
		want[i] = record(i)
		fmt.Fprintln(w, want[i])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

// csvRecords cuts a file's text into records at the line ends outside quotes.
func csvRecords(text string) []string {
	var records []string
	quoted, start := false, 0
	for i := range len(text) {
		switch text[i] {
		case '"':
			quoted = !quoted
		case '\n':
			if !quoted {
				records = append(records, text[start:i])
				start = i + 1
			}
		}
	}
	if start < len(text) {
		records = append(records, text[start:])
	}
	return records
}

const table = `(id int primary key, name text, amount numeric(20,2), at timestamp)`

// pgRows returns a table as CSV records, as the source has them.
func pgRows(t *testing.T, url, name string) []string {
	t.Helper()
	// Quoted as the source quotes: where the text needs it, and '' apart from NULL.
	sql := fmt.Sprintf(`SELECT id || ',' || coalesce(CASE WHEN name = '' OR name ~ '[",\n]' THEN '"' || replace(name, '"', '""') || '"' ELSE name END, '')
		|| ',' || coalesce(amount::text, '') || ',' || coalesce(at::text, '') FROM %s`, name)
	got := testenv.Value[[]string](t, url, "SELECT coalesce(array_agg(r), '{}') FROM ("+sql+") AS q(r)")
	return got
}

// pgLeft lists what a finished run must have taken away: positions, an open
// marker, a staging table.
func pgLeft(t *testing.T, url string) []string {
	t.Helper()
	return testenv.Value[[]string](t, url, `SELECT coalesce(array_agg(x), '{}') FROM (
		SELECT 'position of split ' || split FROM leat_positions
		UNION ALL SELECT 'open run ' || run FROM leat_runs WHERE outcome IS DISTINCT FROM 'finished'
		UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relname LIKE 'leat_staging%') q(x)`)
}

// fillPostgres makes a table of the records.
func fillPostgres(t *testing.T, pg *testenv.PostgresServer, url string) []string {
	t.Helper()
	pg.Exec(t, url, "CREATE TABLE source "+table)
	pg.Exec(t, url, fmt.Sprintf(`INSERT INTO source SELECT i,
		CASE i %% 5 WHEN 0 THEN 'a "quoted" one, ' || i WHEN 1 THEN E'two\nlines ' || i WHEN 2 THEN NULL WHEN 3 THEN '' ELSE 'plain ' || i END,
		CASE i %% 5 WHEN 0 THEN i + (i %% 100) / 100.0 WHEN 1 THEN -(i + 0.5) WHEN 2 THEN NULL WHEN 3 THEN 0 ELSE 99999999999999.99 END,
		CASE i %% 5 WHEN 2 THEN NULL ELSE timestamp '2024-02-29 12:00:00' + (i * 10 + 1) * interval '1 microsecond' END
		FROM generate_series(0, %d) AS i`, rows-1))
	return pgRows(t, url, "source")
}

// yaml is the part of every job that makes commits and state frequent.
const often = "\ncheckpoint: {interval: 10ms}\nrestart: {attempts: 20, backoff: 20ms}\n"

// pairs are all that the tests of this package go through.
func pairs(from *sources) []pair {
	database := []string{"after-prepare", "after-claim", "before-commit", "after-commit", "before-store", "after-store", "before-finish", "after-finish"}
	file := []string{"after-prepare", "before-commit", "after-commit", "before-store", "after-store", "before-rename", "after-rename", "after-finish"}
	return []pair{
		{"csv to postgres append", database, func(t *testing.T) scene { return csvToPostgres(t, from, "append") }},
		{"csv to postgres overwrite", database, func(t *testing.T) scene { return csvToPostgres(t, from, "overwrite") }},
		{"postgres to postgres append", database, func(t *testing.T) scene { return postgresToPostgres(t, from, "append") }},
		{"postgres to postgres upsert", database, func(t *testing.T) scene { return postgresToPostgres(t, from, "upsert") }},
		{"postgres to csv", file, func(t *testing.T) scene { return postgresToCSV(t, from) }},
		{"csv to sqlite", database, func(t *testing.T) scene { return csvToSQLite(t, from) }},
		{"csv to mysql append", database, func(t *testing.T) scene { return csvToMySQL(t, from, "append") }},
		{"csv to mysql overwrite", append(slices.Clone(database), "before-rename", "after-rename", "before-drop"), func(t *testing.T) scene { return csvToMySQL(t, from, "overwrite") }},
		{"postgres to mysql upsert", database, func(t *testing.T) scene { return postgresToMySQL(t, from, "upsert") }},
		{"mysql to postgres append", database, func(t *testing.T) scene { return mysqlToPostgres(t, from) }},
		{"mysql to csv", file, func(t *testing.T) scene { return mysqlToCSV(t, from) }},
		{"csv to csv", file, func(t *testing.T) scene { return csvToCSV(t, from, "out.csv") }},
		{"csv to csv folder", file, func(t *testing.T) scene { return csvToCSV(t, from, "out/") }},
		{"csv to csv gzip", file, func(t *testing.T) scene { return csvToCSV(t, from, "out.csv.gz") }},
		{"csv to parquet", file, func(t *testing.T) scene { return csvToParquet(t, from, "out.parquet") }},
		{"csv to parquet folder", file, func(t *testing.T) scene { return csvToParquet(t, from, "out/") }},
		{"postgres to parquet", file, func(t *testing.T) scene { return postgresToParquet(t, from, "out.parquet") }},
		{"postgres to parquet folder", file, func(t *testing.T) scene { return postgresToParquet(t, from, "out/") }},
		{"parquet to csv", file, func(t *testing.T) scene { return parquetToCSV(t, from, from.parquet, "out.csv") }},
		{"parquet folder to csv folder", file, func(t *testing.T) scene { return parquetToCSV(t, from, from.folder, "out/") }},
		{"parquet to postgres", database, func(t *testing.T) scene { return parquetToPostgres(t, from, from.parquet) }},
		{"parquet folder to postgres", database, func(t *testing.T) scene { return parquetToPostgres(t, from, from.folder) }},
	}
}

func csvToPostgres(t *testing.T, from *sources, mode string) scene {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	pg.Exec(t, url, "CREATE TABLE target "+strings.Replace(table, " primary key", "", 1))
	return scene{
		job: fmt.Sprintf("name: j\nsource: {csv: {path: %s, split_size: 40KiB}}\nsink: {postgres: {url: %q, table: target, mode: %s}}\nparallelism: 2",
			from.csv, url, mode) + often,
		target: func() []string { return pgRows(t, url, "target") },
		left:   func() []string { return pgLeft(t, url) },
		want:   from.records,
		again:  mode == "overwrite",
	}
}

func postgresToPostgres(t *testing.T, from *sources, mode string) scene {
	pg := testenv.Postgres(t)
	to := pg.Database(t)
	create := table
	if mode == "append" {
		create = strings.Replace(table, " primary key", "", 1)
	}
	pg.Exec(t, to, "CREATE TABLE target "+create)
	return scene{
		job: fmt.Sprintf("name: j\nsource: {postgres: {url: %q, table: source}}\nsink: {postgres: {url: %q, table: target, mode: %s}}\nparallelism: 2",
			from.postgres, to, mode) + often,
		target: func() []string { return pgRows(t, to, "target") },
		left:   func() []string { return pgLeft(t, to) },
		want:   from.postgresRows,
		again:  mode == "upsert",
	}
}

func postgresToCSV(t *testing.T, from *sources) scene {
	dir := t.TempDir()
	return scene{
		job: fmt.Sprintf("name: j\nsource: {postgres: {url: %q, table: source}}\nsink: {csv: {path: %s/, mode: overwrite}}\nparallelism: 2",
			from.postgres, filepath.Join(dir, "out")) + often,
		target: func() []string { return csvFolder(t, filepath.Join(dir, "out")) },
		left:   func() []string { return filesLeft(t, filepath.Join(dir, "out")) },
		want:   from.postgresRows,
		again:  true,
	}
}
