package heartbeat

import (
	"errors"
	"fmt"
	"reflect"
)

// need is something that a part of the package cannot be made without, and what to
// say when it is not there.
type need struct {
	ok   bool
	text string
}

// missing reports all needs at once that are not met; nil: none.
func missing(needs ...need) error {
	var problems []error
	for _, n := range needs {
		if !n.ok {
			problems = append(problems, errors.New(n.text))
		}
	}
	return errors.Join(problems...)
}

// there says whether an interface holds something that can be called: neither
// nothing, nor a nil pointer or function, which would fail on the owner's loop only.
func there(v any) bool {
	if v == nil {
		return false
	}
	r := reflect.ValueOf(v)
	return r.Kind() != reflect.Pointer && r.Kind() != reflect.Func || !r.IsNil()
}

func needServices(s *Services) need {
	return need{s != nil, "there are no services: make them with New"}
}

func needLoop(run Executor) need {
	return need{run != nil, "there is no executor: the owner is called on its own message loop only"}
}

// notMade names what could not be made, and for whom.
func notMade(what, whose string, err error) error {
	if err == nil {
		return nil
	}
	if whose != "" {
		what += " of " + whose
	}
	return fmt.Errorf("make the heartbeat %s: %w", what, err)
}
