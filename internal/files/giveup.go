package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/leatdata/leat/connector"
)

// checkEnding looks whether the run that the user gives up has begun to show
// its files, or has shown them all, before the engine could note it: with mode
// append they would stand in the folder twice.
func (s *Sink) checkEnding(run connector.Run) error {
	staging := s.target.staging(run.Abandoned)
	for _, name := range []string{finishedName, manifestName} {
		_, err := s.cfg.FS.Stat(filepath.Join(staging, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look how far run %s came: %w", run.Abandoned, err)
		}
		if s.cfg.Options.Mode == "append" && !run.KeepRows {
			return connector.Errorf(connector.Usage,
				"run %s, which --restart gives up, was ending: its files are in %s, all or some, and mode append would add them again; start without --restart to end it as done, or say --keep-rows to copy once more", run.Abandoned, s.target.path)
		}
		s.cfg.Log.Warn("the run that is given up was ending in the target", "run", run.Abandoned, "path", s.target.path)
		return nil
	}
	return nil
}
