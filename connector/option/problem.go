package option

import "fmt"

// ProblemKind says what is wrong with an option.
type ProblemKind uint8

// The kinds of problems.
const (
	// Wrong: the value cannot be taken.
	Wrong ProblemKind = iota
	// Unknown: there is no such option.
	Unknown
	// Missing: an option that must be given is not.
	Missing
)

// Problem is what is wrong with one option. Its text never holds the value of
// a Secret.
type Problem struct {
	// Option is the name as given, with the names around it: "columns.cast".
	Option string
	Kind   ProblemKind
	// Nearest is the known name that an unknown one may have meant, or "".
	Nearest string
	// Reason goes on from the option's name: "is not known".
	Reason string
}

// Error implements error.
func (p *Problem) Error() string {
	text := fmt.Sprintf("option %q %s", p.Option, p.Reason)
	if p.Kind == Wrong {
		text = fmt.Sprintf("option %q: %s", p.Option, p.Reason)
	}
	if p.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Nearest)
	}
	return text
}

// Problems returns the problems in err's tree in order.
func Problems(err error) []*Problem {
	switch e := err.(type) { //nolint:errorlint // the tree is walked by hand
	case nil:
		return nil
	case *Problem:
		return []*Problem{e}
	case interface{ Unwrap() []error }:
		var all []*Problem
		for _, inner := range e.Unwrap() {
			all = append(all, Problems(inner)...)
		}
		return all
	case interface{ Unwrap() error }:
		return Problems(e.Unwrap())
	}
	return nil
}

// within carries the problems of a struct of options inside an option's value.
type within struct {
	at       string
	problems []*Problem
}

// Error implements error.
func (w *within) Error() string { return fmt.Sprintf("%d problems", len(w.problems)) }
