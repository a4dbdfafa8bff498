package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Doing says of an error what was being done to a file; nil stays nil. Errors
// of package os name their file and operation too: each is said once.
func Doing(what, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, name, without(what, name, err))
}

// without takes out of an error that is about the named file alone what
// Doing says in front of it.
func without(what, name string, err error) error {
	switch e := err.(type) { //nolint:errorlint // an error that is wrapped further keeps its text
	case *fs.PathError:
		if e.Path == name {
			return failed(what, e.Op, e.Err)
		}
	case *os.LinkError:
		if e.Old == name || e.New == name {
			return failed(what, e.Op, e.Err)
		}
	case interface{ Unwrap() []error }:
		parts := make([]error, 0, len(e.Unwrap()))
		for _, part := range e.Unwrap() {
			parts = append(parts, without(what, name, part))
		}
		return errors.Join(parts...)
	}
	return err
}

func failed(what, operation string, err error) error {
	if what == operation {
		return err
	}
	return fmt.Errorf("%s: %w", operation, err)
}
