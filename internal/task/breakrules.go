package task

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/leatdata/leat/internal/failpoint"
)

// countUnrecorded breaks exactness rule 13 in a build for tests: all parts are
// joined, whole, whatever the splits' states say of them.
func countUnrecorded() bool { return failpoint.Broken("count-unrecorded-dirty") }

// joinAll writes every part that there is into w.
func (d DirtyDir) joinAll(w io.Writer) error {
	entries, err := d.FS.ReadDir(d.Path)
	if err != nil {
		return fmt.Errorf("join dirty records: %w", err)
	}
	for _, e := range entries {
		if err := d.copyPart(w, filepath.Join(d.Path, e.Name()), wholePart); err != nil {
			return fmt.Errorf("join dirty records: %w", err)
		}
	}
	return nil
}
