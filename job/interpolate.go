package job

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector/option"
)

// Vars is where the values of ${…} in a job file come from.
type Vars struct {
	// Set holds the values of ${name}.
	Set map[string]string
	// Env returns the value of ${env:NAME}; nil is the process's environment.
	Env func(name string) (string, bool)
	// File returns the content of ${file:PATH}; nil is the file system.
	File func(path string) ([]byte, error)
}

// interpolation is one pass over a tree.
type interpolation struct {
	vars     Vars
	problems *problems
	used     map[string]bool
	// secrets are the values that came from the environment and files.
	secrets []string
}

func newInterpolation(vars Vars, p *problems) *interpolation {
	if vars.Env == nil {
		vars.Env = os.LookupEnv
	}
	if vars.File == nil {
		vars.File = os.ReadFile
	}
	return &interpolation{vars: vars, problems: p, used: map[string]bool{}}
}

// tree replaces ${…} in all scalars below n.
func (in *interpolation) tree(n *node) {
	switch n.shape {
	case scalar:
		in.scalar(n)
	case list:
		for _, item := range n.items {
			in.tree(item)
		}
	case mapping:
		for _, e := range n.entries {
			in.tree(e.value)
		}
	}
}

// unused reports values that were given for no ${name}: most likely a slip.
func (in *interpolation) unused() {
	known := slices.Sorted(maps.Keys(in.used))
	for _, name := range slices.Sorted(maps.Keys(in.vars.Set)) {
		if in.used[name] {
			continue
		}
		if near := option.Nearest(name, known); near != "" {
			in.problems.add(0, "a value is set for %q, and there is no ${%s}; did you mean %q?", name, name, near)
		} else {
			in.problems.add(0, "a value is set for %q, and there is no ${%s}", name, name)
		}
	}
}

func (in *interpolation) scalar(n *node) {
	if !strings.Contains(n.text, "${") {
		return
	}
	var b strings.Builder
	rest := n.text
	parts := 0
	for {
		before, after, found := strings.Cut(rest, "${")
		if escaped, ok := strings.CutSuffix(before, "$"); found && ok {
			b.WriteString(escaped + "${")
			rest = after
			parts++
			continue
		}
		b.WriteString(before)
		if before != "" {
			parts++
		}
		if !found {
			break
		}
		name, following, closed := strings.Cut(after, "}")
		if !closed {
			in.problems.add(n.line, "${ without its }; to mean the characters themselves write $${")
			return
		}
		value, err := in.lookup(name, n)
		if err != nil {
			in.problems.add(n.line, "${%s}: %v", option.MaskURL(name), err)
		}
		b.WriteString(value)
		rest = following
		parts++
	}
	n.text = b.String()
	if parts > 1 {
		n.quoted = true // a mixture is a text, never a number
	}
}

// lookup returns the value for a name and marks n when the value is secret.
func (in *interpolation) lookup(name string, n *node) (string, error) {
	if key, ok := strings.CutPrefix(name, "env:"); ok {
		value, ok := in.vars.Env(key)
		if !ok {
			return "", fmt.Errorf("the environment has no %s", key)
		}
		in.hide(value, n)
		return value, nil
	}
	if path, ok := strings.CutPrefix(name, "file:"); ok {
		data, err := in.vars.File(path)
		if err != nil {
			return "", err
		}
		value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
		in.hide(value, n)
		return value, nil
	}
	if !isName(name) {
		return "", fmt.Errorf("is neither ${name}, ${env:NAME} nor ${file:PATH}; to mean the characters themselves write $${")
	}
	in.used[name] = true
	value, ok := in.vars.Set[name]
	if ok {
		return value, nil
	}
	if near := option.Nearest(name, slices.Sorted(maps.Keys(in.vars.Set))); near != "" {
		return "", fmt.Errorf("has no value; did you mean ${%s}?", near)
	}
	return "", fmt.Errorf("has no value; give one with --set %s=…", name)
}

func (in *interpolation) hide(value string, n *node) {
	n.hidden = true
	in.secrets = append(in.secrets, value)
}

func isName(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}
