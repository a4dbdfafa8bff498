package rpc

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// channel is a target of the peer's on one connection: one of our endpoints,
// and the credit that the peer has for it.
type channel struct {
	link  *link
	index uint32
	name  string
	// inbox is the endpoint when it was last looked up; the reader's.
	inbox *inbox
	// received is what came, in bytes; the reader's.
	received int64
	// returned is what was granted back; handled is what was not yet.
	returned, handled atomic.Int64
	// dead: the peer has forgotten the number.
	dead atomic.Bool
}

// admit counts a message that came in. A peer has to keep to its credit.
func (c *channel) admit(size int64) error {
	if c.received-c.returned.Load() >= int64(c.link.env.cfg.Window) {
		return fmt.Errorf("%w: endpoint %s", errFlood, c.name)
	}
	c.received += size
	return nil
}

// consumed counts what was handled, and grants it anew in pieces of a quarter.
func (c *channel) consumed(bytes int64) {
	if c.handled.Add(bytes) < int64(c.link.env.cfg.Window)/4 {
		return
	}
	if n := c.handled.Swap(0); n > 0 && !c.dead.Load() {
		c.returned.Add(n)
		c.link.grant(c.index, n)
	}
}

// source is a dialler, told from others by its id, and which of its connections
// counts. Messages are posted under its mutex, so that none of an older
// connection comes behind one of a newer.
type source struct {
	mu     sync.Mutex
	link   *link
	number uint64
}

// incomingType is a type that the peer has defined; msg is nil when we do not
// know it.
type incomingType struct {
	name string
	msg  *message
}

// maxDefinitions bounds what a peer may define on one connection.
const maxDefinitions = 1 << 16

// defineTarget and defineType note what a peer's numbers mean. They are given in
// order, so that a peer cannot make us hold more than it sends.
func (r *reader) defineTarget(body []byte) error {
	number, name, err := wire.ParseDefine(body)
	switch {
	case err != nil:
		return err
	case int64(number) != r.base+int64(len(r.channels)) || len(name) > maxName:
		return wire.ErrBody
	case len(r.channels) >= maxDefinitions:
		return errTooManyDefs
	}
	r.channels = append(r.channels, &channel{link: r.link, index: number, name: name})
	return nil
}

func (r *reader) defineType(body []byte) error {
	number, name, err := wire.ParseDefine(body)
	switch {
	case err != nil:
		return err
	case int(number) != len(r.types) || len(name) > maxName:
		return wire.ErrBody
	case len(r.types) >= maxDefinitions:
		return errTooManyDefs
	}
	r.types = append(r.types, incomingType{name: name, msg: r.link.env.registry.byName[name]})
	return nil
}

func (r *reader) forgetTargets() {
	for _, c := range r.channels {
		c.dead.Store(true)
	}
	r.base += int64(len(r.channels))
	r.channels = nil
}
