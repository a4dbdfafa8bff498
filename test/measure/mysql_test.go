package measure

import (
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// TestMemoryOfMySQL copies a table of 80 MB to MySQL and from there.
func TestMemoryOfMySQL(t *testing.T) {
	const rows = 600_000
	server := testenv.MariaDB(t)
	url, path := server.Database(t), writeLineitem(t, rows)
	server.Exec(t, url, "CREATE TABLE lineitem "+lineitem)
	bounded(t, "csv to mysql", leat(t, "copy", path, url+"?table=lineitem", "--parallelism", "2"), mostMemory)
	server.Expect(t, url, "SELECT COUNT(*) FROM lineitem", "600000")
	bounded(t, "mysql to csv", leat(t, "copy", url+"?table=lineitem", filepath.Join(t.TempDir(), "out")+"/", "--parallelism", "2"), mostMemory)
}
