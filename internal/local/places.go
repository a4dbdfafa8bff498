package local

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
)

// checkPlaces refuses a job that reads what it writes, and doubts one that
// perhaps does. Ends that cannot tell their places are left to the user.
func (a *assembly) checkPlaces(ctx context.Context, dirty string) error {
	from, err := placesOf(ctx, a.source)
	if err != nil {
		return fmt.Errorf("find the source's places: %w", err)
	}
	to, err := placesOf(ctx, a.sink)
	if err != nil {
		return fmt.Errorf("find the sink's places: %w", err)
	}
	if err := a.checkDirtyPlace(dirty, from, to); err != nil {
		return err
	}
	surely, perhaps := from.Meets(to)
	if surely {
		return connector.Errorf(connector.Usage,
			"source and sink are the same place%s: records would be read while they are removed or added; copy to another place, and from there back", sharedPath(from, to))
	}
	if perhaps && a.plan.Empties {
		return connector.Errorf(connector.Usage,
			"the source seems to read what the sink empties first (by a view or a query, or both are copies of one server): nothing would be left; use another mode, or copy to another place first")
	}
	if perhaps {
		a.selfRead = "the source seems to read what the sink writes (by a view, a query or a pattern of files, or both are copies of one server): records may be lost or read twice; copy to another place first"
		a.plan.Doubts = append(a.plan.Doubts, a.selfRead)
	}
	return nil
}

// sharedPath names the file that two ends share, in brackets, if it is one.
func sharedPath(from, to connector.Identity) string {
	for _, place := range from.Places {
		if filepath.IsAbs(place) && slices.Contains(to.Places, place) {
			return " (" + place + ")"
		}
	}
	return ""
}

func placesOf(ctx context.Context, end any) (connector.Identity, error) {
	if i, ok := end.(connector.Identifier); ok {
		return i.Identify(ctx)
	}
	return connector.Identity{}, nil
}

// checkDirtyPlace refuses a file of dirty records that is an end of the job,
// and doubts one that the source would read the next time.
func (a *assembly) checkDirtyPlace(dirty string, from, to connector.Identity) error {
	if dirty == "" {
		return nil
	}
	path := absolute(dirty)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	const refusal = "errors.dirty: %s is %s: name another file"
	if slices.Contains(from.Places, path) {
		return connector.Errorf(connector.Usage, refusal, dirty, "what the source reads")
	}
	if slices.Contains(to.Places, path) {
		return connector.Errorf(connector.Usage, refusal, dirty, "the target")
	}
	for _, place := range from.Behind {
		pattern, ok := strings.CutPrefix(place, "new: ")
		if matches, err := filepath.Match(pattern, path); ok && err == nil && matches {
			a.plan.Doubts = append(a.plan.Doubts, fmt.Sprintf("errors.dirty: %s is where the source reads all files: the next run would read it", dirty))
		}
	}
	return nil
}
