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

// Violation says what of a row a Constraint is about.
type Violation uint8

// The violations.
const (
	// Unspecific: a check, a foreign key, what a trigger raised, or no
	// constraint at all.
	Unspecific Violation = iota
	// NotNull: NULL in a column that is NOT NULL.
	NotNull
	// Unique: a primary key, unique index or rowid that is there already.
	Unique
	// Datatype: a value of a type that a strict table, or a rowid, does not take.
	Datatype
)

// ConstraintOf finds what a refusal of a row is about.
func ConstraintOf(err error) Violation {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return Unspecific
	}
	switch e.Code {
	case sqlite3.SQLITE_CONSTRAINT_NOTNULL:
		return NotNull
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return Unique
	case sqlite3.SQLITE_CONSTRAINT_DATATYPE, sqlite3.SQLITE_MISMATCH:
		return Datatype
	}
	return Unspecific
}

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
