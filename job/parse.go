package job

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// Keys are the keys of a job file.
func Keys() []string {
	return []string{"name", "source", "sink", "columns", "where", "parallelism", "speed", "errors", "checkpoint", "restart"}
}

// maxParallelism bounds the number of subtasks that a file may ask for.
const maxParallelism = 1024

// Parse reads a job file. name is the file's, for messages, and names the job
// when the file does not. The error is a Usage error that holds an *Error with
// all problems.
func Parse(data []byte, name string, vars Vars, registry *connector.Registry) (*Job, error) {
	p := &problems{}
	root := readTree(data, p)
	if root == nil {
		return nil, p.err(name)
	}
	in := newInterpolation(vars, p)
	in.tree(root)
	in.unused()
	r := &reader{problems: p, registry: registry, secrets: in.secrets}
	p.redact = func(text string) string { return newRedactor(r.secrets).text(text) }
	if root.shape != mapping {
		p.add(root.line, "a job file is a map with the keys %s", strings.Join(Keys(), ", "))
		return nil, p.err(name)
	}
	j := r.job(root, name)
	if err := p.err(name); err != nil {
		return nil, err
	}
	j.redactor = newRedactor(r.secrets)
	return j, nil
}

// reader makes a job of a tree.
type reader struct {
	problems *problems
	registry *connector.Registry
	secrets  []string
	warnings []string
}

func (r *reader) job(root *node, file string) *Job {
	r.unknownKeys(root)
	j := &Job{Name: r.name(root, file)}
	j.Source = r.endpoint(root, "source")
	j.Sink = r.endpoint(root, "sink")
	if e := root.get("columns"); e != nil {
		j.Columns = readColumns(e.value, r.problems)
	}
	if e := root.get("where"); e != nil {
		j.Where = strings.TrimSpace(r.text(e))
	}
	if e := root.get("parallelism"); e != nil {
		j.Parallelism = r.parallelism(e)
	}
	var speed speedSection
	r.section(root, "speed", &speed)
	j.Speed = speed.speed()
	var limits errorsSection
	r.section(root, "errors", &limits)
	j.Errors = limits.limits()
	var checkpoint checkpointSection
	r.section(root, "checkpoint", &checkpoint)
	j.Checkpoint = checkpoint.checkpoint()
	var restart restartSection
	r.section(root, "restart", &restart)
	j.Restart = restart.restart()
	j.Warnings = r.warnings
	return j
}

func (r *reader) unknownKeys(root *node) {
	for _, e := range root.entries {
		if slices.Contains(Keys(), e.key) {
			continue
		}
		if near := option.Nearest(e.key, Keys()); near != "" {
			r.problems.add(e.line, "key %q is not known; did you mean %q?", e.key, near)
		} else {
			r.problems.add(e.line, "key %q is not known; known are %s", e.key, strings.Join(Keys(), ", "))
		}
	}
}

// text returns the value of a key that has one text.
func (r *reader) text(e *entry) string {
	if e.value.shape != scalar {
		r.problems.add(e.line, "%s is %s where one value is wanted", e.key, shapeNames[e.value.shape])
		return ""
	}
	return e.value.text
}

func (r *reader) name(root *node, file string) string {
	if e := root.get("name"); e != nil {
		name := r.text(e)
		if e.value.shape == scalar && !validName(name) {
			r.problems.add(e.line, "name %q: a name has letters, digits, - _ and . and does not start with one of . and -; at most 100", name)
		}
		return name
	}
	base := filepath.Base(file)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if !validName(name) {
		r.problems.add(root.line, "the job needs a name: write name: …")
	}
	return name
}

// validName reports whether a name is fit for a file's.
func validName(name string) bool {
	if name == "" || len(name) > 100 || name[0] == '.' || name[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

func (r *reader) parallelism(e *entry) int {
	n, err := strconv.Atoi(r.text(e))
	if e.value.shape == scalar && (err != nil || n < 1 || n > maxParallelism) {
		r.problems.add(e.line, "parallelism %q is not a number from 1 to %d; without it %d are used",
			e.value.text, maxParallelism, runtime.GOMAXPROCS(0))
	}
	return n
}

// section reads a section whose keys are declared by a struct; an absent one
// gets its defaults.
func (r *reader) section(root *node, key string, into any) bool {
	n := &node{shape: mapping}
	if e := root.get(key); e != nil {
		n = e.value
		if n.shape != mapping {
			r.problems.add(e.line, "%s is %s where a map is wanted", key, shapeNames[n.shape])
			return false
		}
	}
	return parseSection(n, key, into, r.problems)
}

// parseSection fills a declared struct from a mapping and gives each problem
// its line.
func parseSection(n *node, what string, into any, p *problems) bool {
	err := option.Parse(n.values(), into)
	if err == nil {
		return true
	}
	for _, e := range flatten(err) {
		problem, ok := e.(*option.Problem) //nolint:errorlint // flatten has unwrapped it
		if !ok {
			p.add(n.line, "%s: %v", what, e)
			continue
		}
		line := n.line
		if problem.Kind != option.Missing {
			line = n.lineAt(problem.Option)
		}
		p.add(line, "%s: %v", what, problem)
	}
	return false
}

// flatten returns the errors that were joined, down to option problems.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // only the outermost is taken apart
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	if all := option.Problems(err); len(all) > 0 {
		out := make([]error, len(all))
		for i, p := range all {
			out[i] = p
		}
		return out
	}
	return []error{err}
}

// warn tells of a secret that stands in the file itself.
func (r *reader) warn(line int, side, name string) {
	r.warnings = append(r.warnings, fmt.Sprintf(
		"line %d: the secret in %s option %q stands in the job file or on the command line; better is ${env:NAME} or ${file:PATH}", line, side, name))
}
