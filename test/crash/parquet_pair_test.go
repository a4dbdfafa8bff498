package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/connectors/parquet"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/testenv"
)

const parquetTypes = `types: {id: int32, name: text, amount: "decimal(20,2)", at: timestamp}`

func csvToParquet(t *testing.T, from *sources, target string) scene {
	s := parquetScene(t, target, from.records)
	s.job = fmt.Sprintf("name: j\nsource: {csv: {path: %s, split_size: 40KiB, %s}}\n", from.csv, parquetTypes) + s.job
	return s
}

func postgresToParquet(t *testing.T, from *sources, target string) scene {
	s := parquetScene(t, target, from.postgresRows)
	s.job = fmt.Sprintf("name: j\nsource: {postgres: {url: %q, table: source}}\n", from.postgres) + s.job
	return s
}

// parquetScene is a scene but for its source: small row groups and part files.
func parquetScene(t *testing.T, target string, want []string) scene {
	dir := t.TempDir()
	path := filepath.Join(dir, target)
	return scene{
		job:    fmt.Sprintf("sink: {parquet: {path: %s, row_group_rows: 210, roll_size: 10KiB}}\nparallelism: 2", path+trailing(target)) + often,
		target: func() []string { return parquetRows(t, path) },
		left: func() []string {
			if strings.HasSuffix(target, "/") {
				return filesLeft(t, path)
			}
			return filesLeft(t, dir, target)
		},
		want:  want,
		again: true,
	}
}

// parquetRows returns the records of a file, or of all part files of a folder,
// as the source has them.
func parquetRows(t *testing.T, path string) []string {
	t.Helper()
	if info, err := os.Stat(path); err != nil {
		t.Fatal(err)
	} else if parts, _ := filepath.Glob(filepath.Join(path, "part-*")); info.IsDir() && len(parts) == 0 {
		return nil
	}
	s, err := parquet.NewSource(storage.Local{}, &parquet.SourceOptions{Path: []string{path}}, connector.SourceEnv{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range connectortest.ReadAll(t, s) {
		for i, cell := range row {
			switch {
			case cell == connectortest.Null:
				row[i] = ""
			case cell == "" || strings.ContainsAny(cell, "\",\n"):
				row[i] = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
		}
		got = append(got, strings.Join(row, ","))
	}
	return got
}

// fillJob makes files of the records, each of several row groups.
func fillJob(csv, target string) string {
	return fmt.Sprintf("name: fill\nsource: {csv: {path: %s, split_size: 40KiB, %s}}\nsink: {parquet: {path: %s, row_group_rows: 100, roll_size: 20KiB}}\n",
		csv, parquetTypes, target)
}

func parquetToCSV(t *testing.T, from *sources, source, target string) scene {
	dir := t.TempDir()
	out := filepath.Join(dir, target)
	return scene{
		job: fmt.Sprintf("name: j\nsource: {parquet: {path: %s, split_size: 7KiB}}\nsink: {csv: {path: %s, roll_size: 30KiB}}\nparallelism: 2",
			source, out+trailing(target)) + often,
		target: func() []string {
			if strings.HasSuffix(target, "/") {
				return csvFolder(t, out)
			}
			return csvFile(t, out)
		},
		left: func() []string {
			if strings.HasSuffix(target, "/") {
				return filesLeft(t, out)
			}
			return filesLeft(t, dir, target)
		},
		want:  from.records,
		again: true,
	}
}

func parquetToPostgres(t *testing.T, from *sources, source string) scene {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	pg.Exec(t, url, "CREATE TABLE target "+strings.Replace(table, " primary key", "", 1))
	return scene{
		job:    fmt.Sprintf("name: j\nsource: {parquet: {path: %s, split_size: 7KiB}}\nsink: {postgres: {url: %q, table: target, mode: append}}\nparallelism: 2", source, url) + often,
		target: func() []string { return pgRows(t, url, "target") },
		left:   func() []string { return pgLeft(t, url) },
		want:   from.records,
	}
}
