package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/peer"
)

// duckOne and duckTwo are the peers of copies between CSV and Parquet.
const (
	duckOne = "DuckDB, 1 thread"
	duckTwo = "DuckDB, 2 threads"
)

// parquets are the cases between CSV and Parquet: one stream into one file, two
// into a folder.
func (e *Env) parquets() []Planned {
	const group = "csv ↔ parquet"
	needs := []string{"csv", "parquet"}
	return []Planned{
		{group, "csv → parquet, mixed, zstd", needs, e.toParquet},
		{group, "parquet → csv, mixed, zstd", needs, e.fromParquet},
	}
}

func (e *Env) toParquet(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	f, err := e.files(t, e.Rows)
	if err != nil {
		return Case{}, err
	}
	duckdb, err := e.duck(ctx)
	if err != nil {
		return Case{}, err
	}
	out, reset := e.target()
	source := typedCSVAt(f.Whole, t)
	duck := duckToParquet(t, f.Whole, filepath.Join(out, "duckdb.parquet"))
	return Case{
		Rows: f.Rows, Bytes: f.Bytes,
		Contenders: []Contender{
			{Name: duckOne, Streams: 1, commands: command(duckdb.Command(1, duck))},
			e.leat("leat, one file", 1, source, parquetAt(filepath.Join(out, "leat.parquet"), true),
				Goal{Against: duckOne, Speed: 0.85, Memory: 0.6}),
			{Name: duckTwo, Streams: 2, commands: command(duckdb.Command(2, duck))},
			e.leat("leat, a folder", 2, source, parquetAt(filepath.Join(out, "parts")+"/", true),
				Goal{Against: duckTwo, Speed: 0.95, Memory: 0.6}),
		},
		reset:       reset,
		fingerprint: parquetFingerprint(duckdb, out),
	}, nil
}

func (e *Env) fromParquet(ctx context.Context) (Case, error) {
	t := dataset.Lineitem()
	f, err := e.files(t, e.Rows)
	if err != nil {
		return Case{}, err
	}
	duckdb, err := e.duck(ctx)
	if err != nil {
		return Case{}, err
	}
	from := strings.TrimSuffix(f.Whole, ".csv") + ".parquet"
	if err := makeParquet(ctx, duckdb, t, f.Whole, from); err != nil {
		return Case{}, err
	}
	out, reset := e.target()
	source := parquetAt(from, false)
	duck := fmt.Sprintf("COPY (SELECT * FROM read_parquet('%s')) TO '%s' (FORMAT csv, HEADER)", from, filepath.Join(out, "duckdb.csv"))
	return Case{
		Rows: f.Rows, Bytes: f.Bytes,
		Contenders: []Contender{
			{Name: duckOne, Streams: 1, commands: command(duckdb.Command(1, duck))},
			e.leat("leat, one file", 1, source, csvAt(filepath.Join(out, "leat.csv")), Goal{Against: duckOne, Speed: 1.2}),
			{Name: duckTwo, Streams: 2, commands: command(duckdb.Command(2, duck))},
			e.leat("leat, a folder", 2, source, csvAt(filepath.Join(out, "parts")+"/"), Goal{Against: duckTwo, Speed: 1.5}),
		},
		reset:       reset,
		fingerprint: linesFingerprint(csvFiles(out), t.Header()),
	}, nil
}

// duckToParquet is the statement that copies a table's CSV file, its types told.
func duckToParquet(t dataset.Table, from, to string) string {
	return fmt.Sprintf("COPY (SELECT * FROM read_csv('%s', header = true, columns = %s)) TO '%s' (FORMAT parquet, COMPRESSION zstd)",
		from, t.DuckDB(), to)
}

// makeParquet has DuckDB make the file to read, unless it is there.
func makeParquet(ctx context.Context, duckdb peer.DuckDB, t dataset.Table, from, to string) error {
	if _, err := os.Stat(to); err == nil {
		return warm(to)
	}
	temp := to + ".part"
	if _, err := duckdb.Query(ctx, duckToParquet(t, from, temp)); err != nil {
		return fmt.Errorf("make the file to read: %w", err)
	}
	if err := os.Rename(temp, to); err != nil {
		return err
	}
	return warm(to)
}

// parquetAt is a Parquet file or folder as a source or a sink, in YAML.
func parquetAt(path string, sink bool) string {
	if sink {
		return fmt.Sprintf("{parquet: {path: %q, compression: zstd}}", path)
	}
	return fmt.Sprintf("{parquet: {path: %q}}", path)
}
