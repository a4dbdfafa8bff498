package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// The README's first command, twice: the table is replaced, and holds what the
// file holds, its codes such as 0E0 included.
func TestAirportsExampleRunsTwice(t *testing.T) {
	examples := filepath.Join(testenv.ModuleRoot(t), "examples")
	s := newShell(t)
	if err := os.Mkdir("examples", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(examples, "data"), filepath.Join("examples", "data")); err != nil {
		t.Fatal(err)
	}
	job := filepath.Join(examples, "airports.yaml")
	for range 2 {
		s.contains(s.want(0, "run", job).err, "airports: done in ", "3,376 read, 3,376 written")
	}
	s.contains(s.want(0, "verify", job, "--key", "iata").out, "target sqlite: 3,376 rows", "both hold the same records")
	s.want(0, "copy", "examples/out/airports.db", "back.csv")
	s.contains(s.read("back.csv"), "\n0E0,Moriarty,Moriarty,NM,USA,")
}
