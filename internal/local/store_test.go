package local

import (
	"errors"
	"slices"
	"testing"

	"github.com/leatdata/leat/internal/storage"
)

// keeping is a file system that removes nothing.
type keeping struct{ storage.FS }

func (keeping) Remove(string) error { return errors.New("not permitted") }

// A state that is stored is stored, also when an older one cannot be removed;
// that is made up for with the next.
func TestOldStatesThatStay(t *testing.T) {
	s, err := openStore(keeping{storage.Local{}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	save := func(want ...uint64) {
		t.Helper()
		if err := s.save(1); err != nil {
			t.Fatal(err)
		}
		if got, err := s.numbers(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("states %v, %v, want %v", got, err, want)
		}
	}
	save(1)
	save(1, 2)
	save(1, 2, 3)
	s.fs = storage.Local{}
	save(3, 4)
}
