package testenv

import (
	"bytes"
	"sync"
)

// capture keeps what a process writes and tells waiters of each change.
type capture struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newCapture() *capture { return &capture{changed: make(chan struct{})} }

// Write keeps p and wakes who waits.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
	return c.text.Write(p)
}

// String is all that was written so far.
func (c *capture) String() string {
	text, _ := c.state()
	return text
}

// state is all that was written so far, and a channel that closes at the next
// write.
func (c *capture) state() (string, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.changed
}
