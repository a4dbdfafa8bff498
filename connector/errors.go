package connector

import (
	"context"
	"errors"
	"fmt"
)

// Class says what an error means for whoever has to act on it.
type Class uint8

// The classes. An error without one is Permanent.
const (
	// Permanent: the same will happen again; the job fails.
	Permanent Class = iota
	// Retryable: a lost connection, a deadlock, a lock held: a new attempt may succeed.
	Retryable
	// Dirty: the fault of one record; never ends an attempt by itself.
	Dirty
	// Fenced: a newer attempt owns the split, or the run has ended; this one stops, silently.
	Fenced
	// Usage: the job file or the options are wrong, or contradict what is there; exit code 2.
	Usage
	// Fatal: an invariant is broken (sums that do not match, a target that was reset); the job fails and says so.
	Fatal
)

var classNames = [...]string{"permanent", "retryable", "dirty", "fenced", "usage", "fatal"}

// String returns the class's name.
func (c Class) String() string { return classNames[c] }

// Error is an error with a class. Its text is that of the wrapped error.
type Error struct {
	Class Class
	Err   error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// E gives an error a class; nil stays nil.
func E(c Class, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Class: c, Err: err}
}

// Errorf makes an error of a class from a format with fmt.Errorf's verbs.
func Errorf(c Class, format string, args ...any) error {
	return &Error{Class: c, Err: fmt.Errorf(format, args...)}
}

// ClassOf returns the class of the outermost classed error in err's tree;
// Permanent where there is none. A cancelled context is Retryable: whoever
// cancelled knows why.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Retryable
	}
	return Permanent
}
