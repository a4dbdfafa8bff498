package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/mariadbserver"
	"github.com/leatdata/leat/bench/peer"
	"github.com/leatdata/leat/bench/pgserver"
)

// fingerprint takes one.
type fingerprint func(ctx context.Context) (Fingerprint, error)

// pgFingerprint hashes the text form of each row of a table. The server adds the
// hashes up, so that the order of rows does not matter and doubled rows do.
func pgFingerprint(server *pgserver.Server, table string) fingerprint {
	return func(ctx context.Context) (Fingerprint, error) {
		text, err := server.Query(ctx, fmt.Sprintf(
			"SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM %s t", table))
		return parsed(text, "|", err)
	}
}

// mariaFingerprint does the same in MariaDB, with the half of a MD5 as the hash.
func mariaFingerprint(server *mariadbserver.Server, t dataset.Table) fingerprint {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = fmt.Sprintf("ifnull(%s, char(0))", c.Name)
	}
	query := fmt.Sprintf("SELECT count(*), coalesce(sum(cast(conv(left(md5(concat_ws('|', %s)), 16), 16, 10) AS decimal(20))), 0) FROM %s",
		strings.Join(columns, ", "), t.Name)
	return func(ctx context.Context) (Fingerprint, error) {
		text, err := server.Query(ctx, query)
		return parsed(text, "\t", err)
	}
}

// parquetFingerprint hashes the rows of all files below folder, and takes in the
// columns' names and types: a copy with other types is another copy.
func parquetFingerprint(duckdb peer.DuckDB, folder string) fingerprint {
	return func(ctx context.Context) (Fingerprint, error) {
		files := fmt.Sprintf("read_parquet('%s')", filepath.Join(folder, "**", "*.parquet"))
		kinds, err := duckdb.Query(ctx, fmt.Sprintf(
			"SELECT string_agg(column_name || ' ' || column_type, ', ') FROM (DESCRIBE SELECT * FROM %s)", files))
		if err != nil {
			return Fingerprint{}, err
		}
		text, err := duckdb.Query(ctx, fmt.Sprintf("SELECT count(*), sum(hash(t::varchar)) FROM %s t", files))
		f, err := parsed(text, "|", err)
		f.Hash += " of " + kinds
		return f, err
	}
}

// parsed reads the number of rows and their hash.
func parsed(text, between string, err error) (Fingerprint, error) {
	if err != nil {
		return Fingerprint{}, err
	}
	count, hash, _ := strings.Cut(text, between)
	rows, err := strconv.Atoi(count)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("read the number of rows: %w", err)
	}
	return Fingerprint{Rows: rows, Hash: hash}, nil
}
