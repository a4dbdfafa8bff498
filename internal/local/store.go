package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/job"
)

// stateVersion is raised when an older Leat could misread a newer state.
const stateVersion = 1

// runRecord is a run as the state holds it.
type runRecord struct {
	Run connector.Run `json:"run"`
	// Prepared says that the target was prepared for the run.
	Prepared bool `json:"prepared"`
	// Job is what the job copied, for telling what has changed.
	Job job.Fingerprint `json:"job"`
	// Types are the source's columns, found once: a resumed run reads by them.
	Types *batch.Schema   `json:"types,omitempty"`
	State jobmaster.State `json:"state"`
}

// finished reports whether the run has come to its end.
func (r *runRecord) finished() bool { return endedWell(r.State.Outcome) }

func endedWell(o jobmaster.Outcome) bool {
	return o == jobmaster.Done || o == jobmaster.DoneWithDirty
}

// jobState is the content of a state file.
type jobState struct {
	Version int    `json:"version"`
	Epoch   uint64 `json:"epoch"`
	// Current is the last run. Previous is the one before it, kept until
	// Current is prepared.
	Current  *runRecord `json:"current,omitempty"`
	Previous *runRecord `json:"previous,omitempty"`
	// DirtyFiles are those that errors.dirty has named, as this job left them.
	DirtyFiles []dirtyFile `json:"dirty_files,omitempty"`
}

// store reads and writes the state of one job: files state-<number>.json, of
// which the highest counts and a few older ones are kept.
type store struct {
	fs     storage.FS
	dir    string
	number uint64
	data   jobState
}

// openStore reads the state; there being none is a state too.
func openStore(fsys storage.FS, dir string) (*store, error) {
	s := &store{fs: fsys, dir: dir, data: jobState{Version: stateVersion}}
	numbers, err := s.numbers()
	if err != nil || len(numbers) == 0 {
		return s, err
	}
	s.number = numbers[len(numbers)-1]
	raw, err := storage.ReadFile(fsys, s.file(s.number))
	if err != nil {
		return nil, fmt.Errorf("read the job's state: %w", err)
	}
	if err := json.Unmarshal(raw, &s.data); err != nil {
		return nil, connector.Errorf(connector.Fatal,
			"the job's state in %s cannot be read: %w; it was changed by something else: move it away to go on from the one before it", s.file(s.number), err)
	}
	if s.data.Version > stateVersion {
		return nil, connector.Errorf(connector.Usage,
			"%s was written by a newer Leat (state version %d, this one knows %d): run the job with that one", s.file(s.number), s.data.Version, stateVersion)
	}
	return s, nil
}

func (s *store) file(number uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("state-%08d.json", number))
}

// numbers returns those of the state files, in order.
func (s *store) numbers() ([]uint64, error) {
	entries, err := s.fs.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the job's state: %w", err)
	}
	var numbers []uint64
	for _, e := range entries {
		var n uint64
		if _, err := fmt.Sscanf(e.Name(), "state-%d.json", &n); err == nil && filepath.Base(s.file(n)) == e.Name() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// save makes the state durable under the next number, and removes all but the
// wanted number of older ones. What cannot be removed waits for the next time:
// the state is stored, and a job that is done must not be taken for one that failed.
func (s *store) save(keep int) error {
	raw, err := json.Marshal(&s.data)
	if err != nil {
		return fmt.Errorf("store the job's state: %w", err)
	}
	if err := storage.WriteAtomic(s.fs, s.file(s.number+1), raw); err != nil {
		return fmt.Errorf("store the job's state: %w", err)
	}
	s.number++
	if numbers, err := s.numbers(); err == nil {
		for _, n := range numbers[:max(0, len(numbers)-1-keep)] {
			_ = s.fs.Remove(s.file(n))
		}
	}
	return nil
}
