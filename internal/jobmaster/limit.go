package jobmaster

import (
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// limit makes the ledger of the job's limit.
func (m *Master) limit() {
	m.ledger = ratelimit.NewLedger(ratelimit.Config{
		Limit: m.cfg.Limit, Parallelism: m.cfg.Parallelism, Epoch: m.cfg.Epoch,
	})
	if len(m.cfg.Adopted) > 0 {
		m.ledger.Adopt(m.cfg.Adopted...)
	}
}

// grants gives the ledger's leases to the slots.
func (m *Master) grants() {
	for _, g := range m.ledger.Grants() {
		m.emit(Grant{Slot: g.Worker, Lease: g.Lease})
	}
}

// RateLimit returns what the job may pass per second, zero for no limit.
func (m *Master) RateLimit() ratelimit.Amount { return m.ledger.Limit() }

// joined makes a slot known to the ledger and the collector. Slots of another
// worker have other numbers.
func (m *Master) joined(slot int) {
	delete(m.fenced, slot)
	m.ledger.Join(slot)
	m.collector.join(slot)
}

// lost lets slots go: the collector at once, the ledger when nothing can pass by
// them any more.
func (m *Master) lost(slots []int) {
	for _, slot := range slots {
		m.collector.leave(slot)
		if m.fenced == nil {
			m.fenced = map[int]time.Duration{}
		}
		m.fenced[slot] = m.now + m.cfg.FencedAfter
	}
}

// fence forgets lost workers that must have stopped.
func (m *Master) fence() {
	for slot, at := range m.fenced {
		if m.now >= at {
			m.ledger.Leave(slot)
			delete(m.fenced, slot)
		}
	}
}
