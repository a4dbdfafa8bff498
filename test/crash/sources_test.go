package crash

import (
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// sources are what the scenes of a test read from: no run changes it, so that
// it is made once and not for each of them. All have the same records.
type sources struct {
	// csv, parquet and folder are the paths of files and of a folder of files,
	// postgres and mysql the URLs of databases with a table named source.
	csv, parquet, folder string
	postgres, mysql      string
	// records are those of the files, postgresRows and mysqlRows those of the
	// tables, as CSV records.
	records, postgresRows, mysqlRows []string
}

func newSources(t *testing.T) *sources {
	t.Helper()
	dir := t.TempDir()
	s := &sources{
		csv: filepath.Join(dir, "in.csv"), parquet: filepath.Join(dir, "in.parquet"), folder: filepath.Join(dir, "in"),
		postgres: testenv.Postgres(t).Database(t), mysql: testenv.MariaDB(t).Database(t),
	}
	s.records = writeCSV(t, s.csv)
	s.postgresRows = fillPostgres(t, testenv.Postgres(t), s.postgres)
	s.mysqlRows = fillMySQL(t, s.mysql)
	for _, path := range []string{s.parquet, s.folder + "/"} {
		newRunner(t, scene{job: fillJob(s.csv, path)}).run(t)
	}
	return s
}
