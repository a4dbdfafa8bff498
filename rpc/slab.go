package rpc

// slab is a table of asks that wait for a reply over one connection. An ask's
// number is its slot and how often the slot was used: a late reply finds nothing.
type slab struct {
	slots []slot
	free  []uint32
	n     int
}

type slot struct {
	call *call
	// generation is the call's own.
	generation uint64
	uses       uint32
}

// waiting is a call taken out of a slab: whoever has it completes it.
type waiting struct {
	call       *call
	generation uint64
}

// add gives a call a number.
func (s *slab) add(c *call) uint64 {
	var i uint32
	if n := len(s.free); n > 0 {
		i = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		i = uint32(len(s.slots))
		s.slots = append(s.slots, slot{})
	}
	s.n++
	sl := &s.slots[i]
	sl.call, sl.generation = c, c.generation()
	c.slot = i
	return uint64(i)<<32 | uint64(sl.uses)
}

// take takes the call with a number out; its call is nil when there is none.
func (s *slab) take(id uint64) waiting {
	i := id >> 32
	if i >= uint64(len(s.slots)) {
		return waiting{}
	}
	sl := &s.slots[i]
	if sl.call == nil || sl.uses != uint32(id) {
		return waiting{}
	}
	return s.remove(uint32(i))
}

// has says whether the ask with a number still waits.
func (s *slab) has(id uint64) bool {
	i := id >> 32
	return i < uint64(len(s.slots)) && s.slots[i].call != nil && s.slots[i].uses == uint32(id)
}

// drop takes a call out that has been given up.
func (s *slab) drop(c *call) bool {
	if int(c.slot) >= len(s.slots) || s.slots[c.slot].call != c {
		return false
	}
	s.remove(c.slot)
	return true
}

func (s *slab) remove(i uint32) waiting {
	sl := &s.slots[i]
	w := waiting{sl.call, sl.generation}
	sl.call = nil
	sl.uses++
	s.free = append(s.free, i)
	s.n--
	return w
}

// takeAll empties the slab; numbers given before stay unknown.
func (s *slab) takeAll() []waiting {
	var all []waiting
	for i := range s.slots {
		if s.slots[i].call != nil {
			all = append(all, s.remove(uint32(i)))
		}
	}
	return all
}
