package crash

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	_ "modernc.org/sqlite"
)

func csvToCSV(t *testing.T, from *sources, target string) scene {
	dir := t.TempDir()
	path := filepath.Join(dir, target)
	return scene{
		job: fmt.Sprintf("name: j\nsource: {csv: {path: %s, split_size: 40KiB}}\nsink: {csv: {path: %s, mode: overwrite, roll_size: 30KiB}}\nparallelism: 2",
			from.csv, path+trailing(target)) + often,
		target: func() []string {
			if strings.HasSuffix(target, "/") {
				return csvFolder(t, path)
			}
			return csvFile(t, path)
		},
		left: func() []string {
			if strings.HasSuffix(target, "/") {
				return filesLeft(t, path)
			}
			return filesLeft(t, dir, target)
		},
		want:  from.records,
		again: true,
	}
}

func trailing(target string) string {
	if strings.HasSuffix(target, "/") {
		return "/"
	}
	return ""
}

// csvFolder returns the records of all part files of a folder.
func csvFolder(t *testing.T, dir string) []string {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(dir, "part-*"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range parts {
		got = append(got, csvFile(t, name)...)
	}
	return got
}

// isMark reports whether filesLeft names the folder of a finished run: with its
// mark in it, or about to be removed. Beside the mark there may be files of
// attempts that were killed, whose segments were copied: the folder goes whole.
func isMark(left string) bool {
	return regexp.MustCompile(`^\.leat-[0-9a-f-]{36}( \[(.* )?finished\.json\]|-gone \[.*\])$`).MatchString(left)
}

// filesLeft lists what stands in a folder beside part files and named ones,
// folders with what is in them.
func filesLeft(t *testing.T, dir string, known ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		if slices.Contains(known, e.Name()) || strings.HasPrefix(e.Name(), "part-") {
			continue
		}
		name := e.Name()
		if e.IsDir() {
			var names []string
			within, err := os.ReadDir(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range within {
				names = append(names, f.Name())
			}
			name = fmt.Sprint(name, " ", names)
		}
		left = append(left, name)
	}
	return left
}

func csvFile(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	records := csvRecords(string(text))
	if len(records) == 0 || records[0] != header {
		// A row that no source has: the comparison tells of it, also where a
		// broken rule is to be seen.
		return append(records, filepath.Base(path)+" does not start with the header")
	}
	return records[1:]
}

func csvToSQLite(t *testing.T, from *sources) scene {
	path := filepath.Join(t.TempDir(), "out.db")
	return scene{
		job: fmt.Sprintf("name: j\nsource: {csv: {path: %s, split_size: 40KiB, types: {id: int64, name: text, amount: text, at: text}}}\nsink: {sqlite: {path: %s, table: target, mode: append}}",
			from.csv, path) + often,
		target: func() []string {
			return sqliteRecords(t, path, "SELECT id, name, amount, at FROM target")
		},
		left: func() []string {
			return sqliteRecords(t, path, `SELECT 'position of split ' || split FROM leat_positions
				UNION ALL SELECT 'open run ' || run FROM leat_runs WHERE state <> 'finished'
				UNION ALL SELECT 'table ' || name FROM sqlite_schema WHERE name LIKE 'leat_staging%'`)
		},
		want: from.records,
	}
}

// sqliteRecords returns a query's rows as CSV records, as the source has them.
// The database driver is slow under the race detector: it does no more
// than hand out the cells.
func sqliteRecords(t *testing.T, path, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // read only
	found, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close() //nolint:errcheck // read only
	names, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	cells, into, texts := make([]sql.NullString, len(names)), make([]any, len(names)), make([]string, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	var got []string
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			texts[i] = c.String
			if c.Valid && (c.String == "" || strings.ContainsAny(c.String, "\",\n")) {
				texts[i] = `"` + strings.ReplaceAll(c.String, `"`, `""`) + `"`
			}
		}
		got = append(got, strings.Join(texts, ","))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

// What a kill leaves of a finished run is told from what an open one holds.
func TestMarks(t *testing.T) {
	const run = ".leat-ad780d3e-6d4e-48f9-a785-16d1e7b02876"
	for left, want := range map[string]bool{
		run + " [finished.json]":                true,
		run + " [0-1.4-4.csv finished.json]":    true,
		run + "-gone []":                        true,
		run + "-gone [0-1.4-4.csv 1-1.2-1.csv]": true,
		run + " []":                             false,
		run + " [0-1.4-4.csv]":                  false,
		run + " [0-1.4-4.csv manifest.json]":    false,
		"part-00001.csv":                        false,
		".leat-1-gone [finished.json]":          false,
	} {
		if got := isMark(left); got != want {
			t.Errorf("%s: %t, want %t", left, got, want)
		}
	}
}
