package local_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// text is the content of a file, uncompressed.
func text(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".gz" {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// Exactness rule 15: bytes are the records' own, uncompressed in files (no
// header, no padding of the format), the fields' payload in databases.
func TestRule15BytesAreThoseOfTheRecords(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	header := "id,word\n"
	// 1 + 22 + … in digits, and words of 1, 2, 0 (NULL), 0 and 11 bytes.
	lines := "1,a\n22,é\n333,\n4444,\"\"\n55555,\"x\ty\\z \"\"q\"\" ,\"\n"
	const rows, digits, words = 5, 1 + 2 + 3 + 4 + 5, 1 + 2 + 0 + 0 + 11
	if err := os.WriteFile(in("in.csv"), []byte(header+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	pg.Exec(t, url, "CREATE TABLE w (id int8 PRIMARY KEY, word text); CREATE TABLE r (id int8, word int4range)")
	ranges := "1,\"[1,5)\"\n22,\n333,empty\n4444,\n55555,\n"
	if err := os.WriteFile(in("ranges.csv"), []byte(header+ranges), 0o600); err != nil {
		t.Fatal(err)
	}

	csvText := func(name string) func() int64 {
		return func() int64 { return int64(len(text(t, in(name))) - len(header)) }
	}
	exactly := func(n int64) func() int64 { return func() int64 { return n } }
	for _, c := range []struct {
		name, source, sink string
		read, written      func() int64
	}{
		{
			"csv to sqlite", "csv: {path: " + in("in.csv") + ", types: {id: int64, word: text}}", "sqlite: {path: " + in("w.db") + ", table: w}",
			exactly(int64(len(lines))), exactly(digits + words),
		},
		{
			"sqlite to csv, compressed", "sqlite: {path: " + in("w.db") + ", table: w}", "csv: {path: " + in("out.csv.gz") + ", mode: overwrite}",
			exactly(digits + words), exactly(int64(len(lines))),
		},
		{
			// int8 has 8 bytes on its way in.
			"csv, compressed, to postgres", "csv: {path: " + in("out.csv.gz") + "}", "postgres: {url: \"" + url + "\", table: w}",
			csvText("out.csv.gz"), exactly(8*rows + words),
		},
		{
			// A range is sent as text, so that all is; each NULL is \N.
			"csv to postgres, as text", "csv: {path: " + in("ranges.csv") + "}", "postgres: {url: \"" + url + "\", table: r}",
			exactly(int64(len(ranges))), exactly(digits + 5 + 5 + 3*2),
		},
		{
			// A number is its text on its way out.
			"postgres to jsonl", "postgres: {url: \"" + url + "\", table: w}", "jsonl: {path: " + in("out.jsonl") + ", mode: overwrite}",
			exactly(digits + words), func() int64 { return int64(len(text(t, in("out.jsonl")))) },
		},
		{
			"jsonl to jsonl, compressed", "jsonl: {path: " + in("out.jsonl") + "}", "jsonl: {path: " + in("out.jsonl.gz") + ", mode: overwrite}",
			func() int64 { return int64(len(text(t, in("out.jsonl")))) }, func() int64 { return int64(len(text(t, in("out.jsonl.gz")))) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			registry := connectors.All()
			j, err := job.Parse(fmt.Appendf(nil, "name: bytes\nsource: {%s}\nsink: {%s}\n", c.source, c.sink), "job.yaml", job.Vars{}, registry)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := local.New(local.Deps{Registry: registry}).Run(t.Context(), j, local.Options{StateDir: t.TempDir()})
			if err != nil || sum.Written != rows {
				t.Fatalf("summary %+v, error %v", sum, err)
			}
			if sum.BytesRead != c.read() || sum.BytesWritten != c.written() {
				t.Errorf("%d bytes read and %d written, want %d and %d", sum.BytesRead, sum.BytesWritten, c.read(), c.written())
			}
		})
	}
}
