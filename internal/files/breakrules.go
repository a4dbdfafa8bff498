package files

import (
	"path/filepath"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/failpoint"
)

// breakRules switches parts of exactness rule 9 off, so that its tests can be
// shown to fail without them. Nothing but tests sets it.
type breakRules struct {
	// countUnrecorded has all count that stands in the run's own folder.
	countUnrecorded bool
	// noManifest renames without having written down what is to be renamed.
	noManifest bool
}

// brokenRules returns what the environment says, in a build for tests.
func brokenRules() breakRules {
	return breakRules{
		countUnrecorded: failpoint.Broken("count-unrecorded"),
		noManifest:      failpoint.Broken("no-manifest"),
	}
}

// collectAll returns each file of the run's own folder as if it were recorded
// from its header to its end.
func (s *Sink) collectAll(staging string, header int64) ([]*recorded, error) {
	entries, err := s.cfg.FS.ReadDir(staging)
	if err != nil {
		return nil, err
	}
	var files []*recorded
	for _, e := range entries {
		info, err := s.cfg.FS.Stat(filepath.Join(staging, e.Name()))
		if err != nil {
			return nil, err
		}
		f := &recorded{name: e.Name(), size: info.Size(), closed: true}
		f.segments = []connector.Segment{{File: f.name, Offset: header, Length: f.size - header}}
		files = append(files, f)
	}
	return files, nil
}
