package rpc

import (
	"fmt"
	"math"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

const (
	// chunkSize is how much is read at once; messages are parts of a chunk.
	chunkSize = 64 << 10
	// minRead is the room that a read has at least.
	minRead = 4 << 10
)

// reader takes a connection's frames apart. It never waits for an endpoint: what
// a peer may send is bounded by its credit.
type reader struct {
	link *link
	// channels have the numbers from base on.
	base     int64
	channels []*channel
	types    []incomingType

	// batch is messages for one endpoint that were read one behind the other.
	batch   []envelope
	batchOf *channel
	replies []replied
}

// replied is a reply that was read.
type replied struct {
	id uint64
	p  parcel
}

func (l *link) read() error {
	r := &reader{link: l}
	buf := make([]byte, chunkSize)
	start, end := 0, 0
	for {
		n, err := l.conn.Read(buf[end:])
		if end += n; n > 0 {
			l.heard.Store(true)
			used, bad := r.frames(buf[start:end])
			start += used
			if bad != nil {
				return bad
			}
		}
		if err != nil {
			return ending(err)
		}
		if len(buf)-end < minRead || start == end && start > 0 && len(buf)-end < len(buf)/4 {
			buf, start, end = refill(buf[start:end], l.env.cfg.MaxFrame)
		}
	}
}

// refill makes a new chunk that begins with what is left of the last. A chunk is
// never larger than twice what the peer has really sent of a frame, whatever
// length it claims.
func refill(left []byte, limit int) (buf []byte, start, end int) {
	size := chunkSize
	if want, err := wire.Size(left, limit); err == nil && want > 0 {
		size = max(size, min(want+minRead, 2*len(left)))
	}
	buf = make([]byte, max(size, len(left)+minRead))
	return buf, 0, copy(buf, left)
}

// frames handles all whole frames and says how many bytes they were.
func (r *reader) frames(data []byte) (used int, err error) {
	if s := r.link.source; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.link != r.link {
			return 0, errSuperseded
		}
	}
	limit := r.link.env.cfg.MaxFrame
	for {
		f, size, bad := wire.Cut(data[used:], wire.Version, limit)
		if bad == nil && size > 0 {
			bad = r.frame(f)
		}
		if bad != nil || size == 0 {
			r.flush()
			return used, bad
		}
		used += size
	}
}

// frame handles one frame.
func (r *reader) frame(f wire.Frame) error {
	switch f.Kind {
	case wire.Tell:
		m, err := wire.ParseTell(f.Body)
		if err != nil {
			return err
		}
		return r.message(kindTell, m)
	case wire.Ask:
		m, err := wire.ParseAsk(f.Body)
		if err != nil {
			return err
		}
		return r.message(kindAsk, m)
	case wire.Reply:
		return r.reply(f.Body)
	case wire.Failure:
		return r.failure(f.Body)
	case wire.Credit:
		return r.credit(f.Body)
	case wire.Target:
		return r.defineTarget(f.Body)
	case wire.Type:
		return r.defineType(f.Body)
	case wire.Forget:
		r.flush()
		r.forgetTargets()
		return nil
	case wire.Ping:
		r.link.control(wire.AppendPlain(nil, wire.Version, wire.Pong, nil))
		return nil
	case wire.Pong:
		return nil
	case wire.Goodbye:
		return errGoodbye
	default:
		return fmt.Errorf("%w: kind %d", wire.ErrBody, f.Kind)
	}
}

// message adds a Tell or an Ask to the batch.
func (r *reader) message(k kind, m wire.Message) error {
	number := int64(m.Target) - r.base
	if number < 0 || number >= int64(len(r.channels)) || int64(m.Type) >= int64(len(r.types)) {
		return fmt.Errorf("%w: number not defined", wire.ErrBody)
	}
	c := r.channels[number]
	size := sizeOf(m.Payload)
	if err := c.admit(int64(size)); err != nil {
		return err
	}
	if r.batchOf != c {
		r.flushMessages()
		r.batchOf = c
	}
	r.batch = append(r.batch, envelope{kind: k, from: c, id: m.ID, size: size})
	e := &r.batch[len(r.batch)-1]
	t := &r.types[m.Type]
	if e.msg = t.msg; t.msg == nil {
		e.value = unknown{t.name}
	} else {
		e.value, e.size = enclosed(m.Payload)
	}
	if m.Millis > 0 {
		wait := time.Duration(min(m.Millis, math.MaxInt64/uint64(time.Millisecond)/2)) * time.Millisecond
		e.deadline = time.Now().Add(wait).UnixNano()
	}
	return nil
}

// flush hands on what was gathered.
func (r *reader) flush() {
	r.flushMessages()
	r.flushReplies()
}

func (r *reader) flushMessages() {
	if len(r.batch) == 0 {
		return
	}
	r.batchOf.post(&r.batch)
}

// post queues messages at the channel's endpoint, or refuses them.
func (c *channel) post(batch *[]envelope) {
	if c.inbox != nil && c.inbox.postAll(batch) == nil {
		return
	}
	// Not registered before, or stopped and perhaps registered anew.
	in, err := c.link.env.find(c.name)
	if err == nil {
		c.inbox = in
		if err = in.postAll(batch); err == nil {
			return
		}
	}
	list := *batch
	f := failure{endpoint: c.name, code: codeNotFound, text: c.name}
	if c.link.env.isStopping() {
		f = failure{endpoint: c.name, code: codeStopped, text: stoppedAt(c.link.env.Addr()).Error()}
	}
	tells := 0
	for i := range list {
		if list[i].kind == kindAsk {
			c.link.fail(list[i].id, f)
		} else {
			tells++
		}
		c.consumed(int64(list[i].size))
	}
	clear(list)
	*batch = list[:0]
	c.link.refused(f, tells)
	c.link.env.dropped(c.name, tells, err)
}

func (r *reader) reply(body []byte) error {
	m, err := wire.ParseReply(body)
	if err != nil {
		return err
	}
	if int64(m.Type) >= int64(len(r.types)) {
		return fmt.Errorf("%w: number not defined", wire.ErrBody)
	}
	r.replies = append(r.replies, replied{m.ID, parcel{msg: r.types[m.Type].msg, data: m.Payload}})
	return nil
}

// flushReplies hands replies to their askers: one lock for all of them.
func (r *reader) flushReplies() {
	if len(r.replies) == 0 {
		return
	}
	o, late := r.link.out, 0
	var found [64]waiting
	for list := r.replies; len(list) > 0; {
		part := list[:min(len(list), len(found))]
		list = list[len(part):]
		o.mu.Lock()
		for i := range part {
			found[i] = waiting{}
			if o.link == r.link {
				found[i] = o.calls.take(part[i].id)
			}
		}
		o.mu.Unlock()
		for i := range part {
			if w := found[i]; w.call == nil {
				late++
			} else {
				w.call.reply(w.generation, &part[i].p)
			}
		}
	}
	for range late {
		r.link.env.late(r.link.addr)
	}
	clear(r.replies)
	r.replies = r.replies[:0]
}

func (r *reader) failure(body []byte) error {
	id, rest, err := wire.CutID(body)
	if err != nil {
		return err
	}
	var b wire.FailureBody
	if err := r.link.env.bodies.Decode(rest, &b); err != nil {
		return err
	}
	if id == wire.NoAsk {
		f := failure{endpoint: b.Text, code: b.Code, text: b.Text}
		r.link.env.dropped(string(r.link.addr), int(b.Lost), f.err())
		return nil
	}
	o := r.link.out
	o.mu.Lock()
	var w waiting
	if o.link == r.link {
		w = o.calls.take(id)
	}
	o.mu.Unlock()
	if w.call == nil {
		r.link.env.late(r.link.addr)
		return nil
	}
	f := failure{endpoint: w.call.name, code: b.Code, text: b.Text, reason: b.Reason}
	w.call.fail(w.generation, f.err())
	return nil
}

func (r *reader) credit(body []byte) error {
	index, bytes, err := wire.ParseCredit(body)
	if err != nil || bytes > math.MaxInt64/2 {
		return wire.ErrBody
	}
	o := r.link.out
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.numbered(index)
	if o.link != r.link || t == nil {
		return nil
	}
	t.credit = min(t.credit+int64(bytes), o.window)
	if t.credit > 0 {
		o.letIn()
	}
	return nil
}
