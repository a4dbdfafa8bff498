package ha

import (
	"errors"
	"fmt"
)

// What can become of a call, found by errors.Is. All but ErrAmbiguous mean that
// nothing was changed.
var (
	// ErrFenced: the term is not the present one any more; see [FencedError].
	ErrFenced = errors.New("fenced")
	// ErrAmbiguous: the reply was lost; what was asked may have been done, or may
	// still be done as long as the term is the present one.
	ErrAmbiguous = errors.New("outcome unknown")
	// ErrUnavailable: the store did not answer, and was not asked to change
	// anything. Trying again is right.
	ErrUnavailable = errors.New("store unavailable")
	// ErrNotFound: there is no such thing.
	ErrNotFound = errors.New("not found")
	// ErrExists: there is such a thing already.
	ErrExists = errors.New("exists already")
	// ErrConflict: somebody else has changed it meanwhile.
	ErrConflict = errors.New("changed meanwhile")
	// ErrCorrupt: what is stored is not what was written. Trying again does not
	// help; nothing was removed.
	ErrCorrupt = errors.New("corrupt")
	// ErrForbidden: the store refuses us: wrong credentials, a path that is not
	// ours. Trying again does not help.
	ErrForbidden = errors.New("forbidden")
	// ErrConfig: what was configured cannot work.
	ErrConfig = errors.New("bad configuration")
	// ErrClosed: the services have been closed.
	ErrClosed = errors.New("services closed")
	// ErrStarted: it can be started once, and has been.
	ErrStarted = errors.New("started already")
)

// FencedError is how an ErrFenced comes: with the number that refused, so that
// who takes over next can choose a higher one.
type FencedError struct {
	// Term is the one that was refused.
	Term Term
	// Epoch is the store's present number; 0: the store has none.
	Epoch Epoch
}

// Error implements error.
func (e *FencedError) Error() string {
	return fmt.Sprintf("fenced: term %s is not the present one, the store is at epoch %d", e.Term, e.Epoch)
}

// Is makes it an ErrFenced.
func (e *FencedError) Is(target error) bool { return target == ErrFenced }

// Fatal says that an error will not go away by trying again: somebody has to
// change something first.
func Fatal(err error) bool {
	return errors.Is(err, ErrForbidden) || errors.Is(err, ErrConfig) || errors.Is(err, ErrCorrupt)
}
