package heartbeat

// schedule spreads a sender's requests evenly over the interval: a target has one
// of the interval's slots, and is sent a request whenever that comes round.
type schedule struct {
	slots [][]*Monitor
	// at is the last tick that has passed, done the last whose requests were taken.
	at, done int64
}

func newSchedule(slots int) *schedule { return &schedule{slots: make([][]*Monitor, slots)} }

// add gives a target the emptiest slot, of several the next to come.
func (s *schedule) add(m *Monitor) {
	n := int64(len(s.slots))
	best := int((s.at + 1) % n)
	for i := int64(2); i <= n && len(s.slots[best]) > 0; i++ {
		if slot := int((s.at + i) % n); len(s.slots[slot]) < len(s.slots[best]) {
			best = slot
		}
	}
	m.slot, m.slotIndex = best, len(s.slots[best])
	s.slots[best] = append(s.slots[best], m)
}

func (s *schedule) remove(m *Monitor) {
	list := s.slots[m.slot]
	last := len(list) - 1
	list[m.slotIndex] = list[last]
	list[m.slotIndex].slotIndex = m.slotIndex
	list[last] = nil
	s.slots[m.slot] = list[:last]
}

// advance lets ticks pass, and says whether requests are due.
func (s *schedule) advance(ticks int64) bool {
	s.at += ticks
	// What was not taken for a whole round is due once, not twice.
	s.done = max(s.done, s.at-int64(len(s.slots)))
	for t := s.done + 1; t <= s.at; t++ {
		if len(s.slots[t%int64(len(s.slots))]) > 0 {
			return true
		}
	}
	s.done = s.at
	return false
}

// take appends those whose requests are due.
func (s *schedule) take(dst []*Monitor) []*Monitor {
	for ; s.done < s.at; s.done++ {
		dst = append(dst, s.slots[(s.done+1)%int64(len(s.slots))]...)
	}
	return dst
}
