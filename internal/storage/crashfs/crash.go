package crashfs

import (
	"math/rand/v2"
	"slices"
)

// CrashClone returns a file system as a crash now could leave it. All that it
// holds is durable in it; nothing is injected. Each call gives another of the
// possible ones; the same seed and calls give the same ones again.
func (f *FS) CrashClone() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &cloner{rng: f.rng, clones: map[*node]*node{}, names: map[*node]map[string]*node{}}
	c.keepNames(f.pending)
	clone := New(f.rng.Uint64())
	clone.clock = f.clock
	clone.root = c.clone(f.root)
	return clone
}

// fate is what becomes of a list of changes that are not durable.
type fate uint8

const (
	keepAll fate = iota
	keepNone
	keepPrefix
	keepSome
	fates
)

// cloner makes one clone.
type cloner struct {
	rng    *rand.Rand
	clones map[*node]*node
	// names are the folders that kept changes, with all their names.
	names map[*node]map[string]*node
}

// keepNames chooses which of the pending changes of names have happened.
func (c *cloner) keepNames(pending []*change) {
	for i, keep := range c.choose(len(pending)) {
		if !keep {
			continue
		}
		for _, e := range pending[i].entries {
			if e.dir.durable[e.name].seq < pending[i].seq {
				c.namesOf(e.dir)[e.name] = e.node
			}
		}
	}
}

// choose decides the fate of n changes.
func (c *cloner) choose(n int) []bool {
	kept := make([]bool, n)
	if n == 0 {
		return kept
	}
	fate := fate(c.rng.IntN(int(fates)))
	prefix := c.rng.IntN(n + 1)
	for i := range kept {
		switch fate {
		case keepAll:
			kept[i] = true
		case keepPrefix:
			kept[i] = i < prefix
		case keepSome:
			kept[i] = c.rng.IntN(2) == 0
		}
	}
	return kept
}

// namesOf returns the names of a folder that the clone will have.
func (c *cloner) namesOf(dir *node) map[string]*node {
	names, ok := c.names[dir]
	if !ok {
		names = make(map[string]*node, len(dir.durable))
		for name, d := range dir.durable {
			names[name] = d.node
		}
		c.names[dir] = names
	}
	return names
}

func (c *cloner) clone(n *node) *node {
	if done, ok := c.clones[n]; ok {
		return done
	}
	copied := &node{dir: n.dir, modified: n.modified}
	c.clones[n] = copied
	if !n.dir {
		copied.data = c.data(n)
		copied.synced = slices.Clone(copied.data)
		return copied
	}
	copied.entries, copied.durable = map[string]*node{}, map[string]durable{}
	names := c.namesOf(n)
	for _, name := range sortedNames(names) {
		if child := names[name]; child != nil {
			copied.entries[name] = c.clone(child)
			copied.durable[name] = durable{node: copied.entries[name]}
		}
	}
	return copied
}

// data returns what is left of a file's data.
func (c *cloner) data(n *node) []byte {
	data := slices.Clone(n.synced)
	for i, keep := range c.choose(len(n.writes)) {
		w := n.writes[i]
		if !keep {
			continue
		}
		if !w.truncate {
			w = c.tear(w)
		}
		data = w.on(data)
	}
	return data
}

// tear leaves a write whole, cuts it, or loses its data but not its length.
func (c *cloner) tear(w write) write {
	switch c.rng.IntN(4) {
	case 0:
		w.data = w.data[:c.rng.IntN(len(w.data)+1)]
	case 1:
		lost := slices.Clone(w.data)
		clear(lost[c.rng.IntN(len(lost)+1):])
		w.data = lost
	}
	return w
}

// sortedNames makes the clone depend on the seed alone.
func sortedNames(names map[string]*node) []string {
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}
