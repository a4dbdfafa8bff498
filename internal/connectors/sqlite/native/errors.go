package native

import (
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Error is SQLite's answer to a call that did not go well.
type Error struct {
	// Code is the extended result code; its low byte is the primary one.
	Code int32
	// Message is SQLite's own.
	Message string
}

// Error returns the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (SQLite code %d)", e.Message, e.Code) }

// Reason says what is to be done about an error.
type Reason uint8

// The reasons.
const (
	// Other: none of the following, or no error of SQLite's at all.
	Other Reason = iota
	// Busy: another connection holds a lock.
	Busy
	// Constraint: the values of a row were refused.
	Constraint
	// Interrupted: the context ended, or Interrupt was called.
	Interrupted
	// NotADatabase: the file is something else.
	NotADatabase
	// CannotOpen: the file cannot be opened.
	CannotOpen
	// ReadOnly: the file or its folder cannot be written to.
	ReadOnly
	// InputOutput: the disk failed in a way that may pass.
	InputOutput
)

// ReasonOf finds the reason of an error.
func ReasonOf(err error) Reason {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return Other
	}
	switch e.Code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return Busy
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return Constraint
	case sqlite3.SQLITE_INTERRUPT:
		return Interrupted
	case sqlite3.SQLITE_NOTADB:
		return NotADatabase
	case sqlite3.SQLITE_CANTOPEN:
		return CannotOpen
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return ReadOnly
	case sqlite3.SQLITE_IOERR:
		return InputOutput
	}
	return Other
}
