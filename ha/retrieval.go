package ha

// Retrieval tells who leads a component, wherever that is.
type Retrieval interface {
	// Start tells the listener from now on; a second Start is an ErrStarted. It
	// returns at once. The store's faults do not end it.
	Start(listener Listener) error
	// Stop ends it, and waits for a callback that runs. It may be called twice,
	// and before Start; never from within a callback.
	Stop()
}

// Listener hears who leads. Calls come one after the other, from a goroutine
// that serves this listener alone.
type Listener interface {
	// LeaderChanged tells who leads from now on; the zero Leader: nobody. It is
	// never told the same twice. Changes that follow each other fast may be
	// told as one. A store that cannot be reached changes nothing until our own
	// lease is over; then nobody leads, and who does is told after reconnecting.
	LeaderChanged(leader Leader)
	// Error tells of what goes wrong in the background; the retrieval goes on.
	Error(err error)
}

// Leader is a component that has confirmed.
type Leader struct {
	Address string
	Session SessionID
	// Epoch is the grant's. With fixed addresses (type none) it is 0: unknown.
	Epoch Epoch
}

// None says that nobody leads.
func (l Leader) None() bool { return l == Leader{} }
