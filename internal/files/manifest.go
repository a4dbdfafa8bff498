package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

const (
	// manifestName is the file, in a run's own folder, that says what becomes
	// of the others. Once it is there the end of the run is settled.
	manifestName = "manifest.json"
	// finishedName is what it is renamed to when all of it has been done.
	finishedName = "finished.json"
)

// manifest is what Finish will do: files that are whole and synced are given
// their names, then old ones are removed. Doing it again changes nothing.
type manifest struct {
	Outputs []output `json:"outputs"`
	// Remove are files of the target folder that the outputs take the place of.
	Remove []string `json:"remove,omitempty"`
}

// output is a file that becomes visible.
type output struct {
	// From is its name in the run's own folder, To in the target's.
	From string `json:"from"`
	To   string `json:"to"`
	Size int64  `json:"size"`
}

// readManifest returns nil when the end is not settled yet.
func readManifest(fsys storage.FS, staging string) (*manifest, error) {
	name := filepath.Join(staging, manifestName)
	data, err := storage.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return m, nil
}

func (m *manifest) write(fsys storage.FS, staging string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return storage.WriteAtomic(fsys, filepath.Join(staging, manifestName), append(data, '\n'))
}

// apply makes the outputs visible and removes what they replace.
func (m *manifest) apply(fsys storage.FS, staging, dir string, failpoint func(string)) error {
	for _, o := range m.Outputs {
		if err := o.apply(fsys, staging, dir); err != nil {
			return err
		}
		failpoint("after-rename")
	}
	if err := syncDirs(fsys, dir, staging); err != nil {
		return err
	}
	for _, name := range m.Remove {
		if err := fsys.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the replaced file: %w", err)
		}
	}
	if len(m.Remove) == 0 {
		return nil
	}
	return fsys.SyncDir(dir)
}

func (o output) apply(fsys storage.FS, staging, dir string) error {
	from, to := filepath.Join(staging, o.From), filepath.Join(dir, o.To)
	info, err := fsys.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		// It was renamed before a crash.
		if info, err = fsys.Stat(to); err == nil && info.Size() == o.Size {
			return nil
		}
		return connector.Errorf(connector.Fatal, "%s is gone, and %s is not what it became: begin anew with --restart", from, to)
	}
	if err != nil {
		return err
	}
	if info.Size() != o.Size {
		return connector.Errorf(connector.Fatal, "%s has %d bytes and was written with %d: begin anew with --restart", from, info.Size(), o.Size)
	}
	if err := fsys.Rename(from, to); err != nil {
		return storage.Doing("put in place", to, err)
	}
	return nil
}

func syncDirs(fsys storage.FS, dirs ...string) error {
	for _, dir := range dirs {
		if err := fsys.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}
