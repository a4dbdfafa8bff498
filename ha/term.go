package ha

import "fmt"

// Epoch numbers the grants of one cluster. It is our own number, never a
// store's version or revision: it only grows, also across a store that was
// deleted or restored from an old copy.
type Epoch uint64

// GrantID is the uuid of one process's one grant.
type GrantID string

// SessionID is issued to one component for one grant.
type SessionID string

// JobID names a job. Its text is free; stores escape it.
type JobID string

// Term is what fences a write: a store accepts one that carries a term only
// while that grant is the present one, within the same transaction. The zero
// Term fences nothing. A Term is a value: keep it as long as you like, a stale
// one is refused.
type Term struct {
	Epoch Epoch
	Grant GrantID
	// Guard belongs to the store that issued the term, and means nothing to
	// anybody else.
	Guard int64
}

// IsZero says that the term fences nothing.
func (t Term) IsZero() bool { return t == Term{} }

// Newer says that the term was granted after another.
func (t Term) Newer(than Term) bool { return t.Epoch > than.Epoch }

// String returns the epoch and the beginning of the grant's uuid.
func (t Term) String() string {
	return fmt.Sprintf("%d/%.8s", t.Epoch, string(t.Grant))
}
