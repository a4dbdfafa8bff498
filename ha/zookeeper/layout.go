package zookeeper

import (
	"strings"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// layout is where keys are, below root and cluster id.
type layout struct{ paths map[string]string }

func newLayout(o Options) layout {
	l := layout{paths: map[string]string{}}
	for folder, path := range o.Paths {
		l.paths[folder] = clean(path)
	}
	return l
}

// folder is a folder's path.
func (l layout) folder(name string) string {
	if path, ok := l.paths[name]; ok {
		return path
	}
	return "/" + name
}

// key is a key's path; of a key without a name, its folder's.
func (l layout) key(k coord.Key) string {
	if k.Name == "" {
		return l.folder(k.Folder)
	}
	return l.folder(k.Folder) + "/" + k.Name
}

func (layout) epoch() string  { return "/epoch" }
func (l layout) lock() string { return l.folder(latch) + "/lock" }
func (l layout) guard(grant ha.GrantID) string {
	return l.folder(latch) + "/g-" + coord.Escape(string(grant))
}

// witness is where a session leaves its mark, see testify.
func (l layout) witness(id string) string { return l.folder(latch) + "/s-" + id }

// parent is the folder of a path.
func parent(path string) string {
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		return path[:at]
	}
	return "/"
}
