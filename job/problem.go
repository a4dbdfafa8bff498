package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Problem is one thing that is wrong in a job file.
type Problem struct {
	// Line is where it is, 0 when it belongs to no line.
	Line int
	// Text says what is wrong and what to do.
	Text string
}

// Error is all that is wrong in a job file.
type Error struct {
	// Name is the file's.
	Name     string
	Problems []Problem
}

// Error returns one line per problem, each as file:line: text.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if p.Line > 0 {
			lines[i] = fmt.Sprintf("%s:%d: %s", e.Name, p.Line, p.Text)
		} else {
			lines[i] = fmt.Sprintf("%s: %s", e.Name, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong while a file is read.
type problems struct {
	list   []Problem
	redact func(string) string
}

func (p *problems) add(line int, format string, args ...any) {
	p.list = append(p.list, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

// err returns the problems as a Usage error in the order of their lines, or nil.
func (p *problems) err(name string) error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	if p.redact != nil {
		for i := range p.list {
			p.list[i].Text = p.redact(p.list[i].Text)
		}
	}
	return connector.E(connector.Usage, &Error{Name: name, Problems: p.list})
}
