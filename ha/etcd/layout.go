package etcd

import (
	"strings"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// layout is where keys are: below root and cluster id.
type layout struct{ base string }

func newLayout(root, cluster string) layout { return layout{clean(root) + clean(cluster)} }

func (l layout) epoch() string { return l.base + "/epoch" }
func (l layout) lock() string  { return l.base + "/leaderlatch/lock" }

// folder is what the keys of a folder begin with.
func (l layout) folder(name string) string { return l.base + "/" + name + "/" }

func (l layout) key(k coord.Key) string { return l.folder(k.Folder) + k.Name }

// all is what all keys begin with.
func (l layout) all() string { return l.base + "/" }

// span is the range of a key; of one without a name, of its folder.
func (l layout) span(k coord.Key) (from, to []byte) {
	if k.Name == "" {
		return below(l.folder(k.Folder))
	}
	return []byte(l.key(k)), nil
}

// below is the range of all keys that begin with a prefix, which ends in a slash.
func below(prefix string) (from, to []byte) {
	to = []byte(prefix)
	to[len(to)-1]++
	return []byte(prefix), to
}

// clean is a path with one slash before each of its names, and none at its end.
func clean(path string) string {
	var b strings.Builder
	for name := range strings.SplitSeq(path, "/") {
		if name != "" {
			b.WriteString("/" + coord.Escape(name))
		}
	}
	return b.String()
}

// blobFolder is the cluster's folder in the shared storage.
func blobFolder(cfg ha.Config) string { return strings.TrimPrefix(clean(cfg.ClusterID), "/") }
