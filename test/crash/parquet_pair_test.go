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

func csvToParquet(t *testing.T, target string) scene {
	dir := t.TempDir()
	want := writeCSV(t, filepath.Join(dir, "in.csv"))
	s := parquetScene(t, dir, target, want)
	s.job = fmt.Sprintf("name: j\nsource: {csv: {path: %s, split_size: 130KiB, %s}}\n", filepath.Join(dir, "in.csv"), parquetTypes) + s.job
	return s
}

func postgresToParquet(t *testing.T, target string) scene {
	pg := testenv.Postgres(t)
	url, dir := pg.Database(t), t.TempDir()
	s := parquetScene(t, dir, target, fillPostgres(t, pg, url))
	s.job = fmt.Sprintf("name: j\nsource: {postgres: {url: %q, table: source}}\n", url) + s.job
	return s
}

// parquetScene is a scene but for its source: small row groups and part files.
func parquetScene(t *testing.T, dir, target string, want []string) scene {
	path := filepath.Join(dir, target)
	return scene{
		job:    fmt.Sprintf("sink: {parquet: {path: %s, row_group_rows: 700, roll_size: 30KiB}}\nparallelism: 2", path+trailing(target)) + often,
		target: func() []string { return parquetRows(t, path) },
		left: func() []string {
			if strings.HasSuffix(target, "/") {
				return filesLeft(t, path)
			}
			return filesLeft(t, dir, "in.csv", target)
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

// fillParquet makes files of the records, each of several row groups, and
// returns the records.
func fillParquet(t *testing.T, path string) []string {
	t.Helper()
	dir := t.TempDir()
	want := writeCSV(t, filepath.Join(dir, "in.csv"))
	newRunner(t, scene{job: fmt.Sprintf("name: fill\nsource: {csv: {path: %s, split_size: 130KiB, %s}}\nsink: {parquet: {path: %s, row_group_rows: 300, roll_size: 60KiB}}\n",
		filepath.Join(dir, "in.csv"), parquetTypes, path)}).run(t)
	return want
}

func parquetToCSV(t *testing.T, source, target string) scene {
	dir := t.TempDir()
	in, out := filepath.Join(dir, source), filepath.Join(dir, target)
	want := fillParquet(t, in+trailing(source))
	return scene{
		job: fmt.Sprintf("name: j\nsource: {parquet: {path: %s, split_size: 20KiB}}\nsink: {csv: {path: %s, roll_size: 100KiB}}\nparallelism: 2",
			in, out+trailing(target)) + often,
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
			return filesLeft(t, dir, source, target, strings.TrimSuffix(source, "/"))
		},
		want:  want,
		again: true,
	}
}

func parquetToPostgres(t *testing.T, source string) scene {
	pg := testenv.Postgres(t)
	url, dir := pg.Database(t), t.TempDir()
	in := filepath.Join(dir, source)
	want := fillParquet(t, in+trailing(source))
	pg.Exec(t, url, "CREATE TABLE target "+strings.Replace(table, " primary key", "", 1))
	return scene{
		job:    fmt.Sprintf("name: j\nsource: {parquet: {path: %s, split_size: 20KiB}}\nsink: {postgres: {url: %q, table: target, mode: append}}\nparallelism: 2", in, url) + often,
		target: func() []string { return pgRows(t, url, "target") },
		left:   func() []string { return pgLeft(t, url) },
		want:   want,
	}
}
