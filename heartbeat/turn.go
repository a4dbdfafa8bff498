package heartbeat

// postLocked says whether a turn has to be queued: one is not yet, or was an
// interval ago and may have been dropped. It is run without the mutex.
func (g *group) postLocked(now int64) bool {
	if g.stopped || g.posted && now-g.postedAt < int64(g.services.cfg.Interval) {
		return false
	}
	if !g.posted {
		g.posted, g.postedSince = true, g.services.Awake()
	}
	g.postedAt = now
	return true
}

// turn runs on the owner's loop. One within another, or beside it, would be of an
// executor that breaks its contract: it is not run, and asked for again after an
// interval.
func (g *group) turn() {
	g.mu.Lock()
	overlaps := g.turning
	g.turning = true
	g.mu.Unlock()
	if overlaps {
		g.log.Error("a heartbeat executor ran its function within its call or beside another: it has to queue it")
		return
	}
	defer func() { // Also when a listener panics.
		g.mu.Lock()
		g.turning = false
		g.mu.Unlock()
	}()
	g.act()
}

// act judges who is late, and sends what is due.
func (g *group) act() {
	g.mu.Lock()
	g.catchUpLocked()
	judge, refused := g.judging, g.refused
	g.refused = nil
	g.batch = g.batch[:0]
	if g.schedule != nil {
		g.batch = g.schedule.take(g.batch)
	}
	g.mu.Unlock()
	for _, m := range refused {
		g.giveUp(m)
	}
	if judge {
		g.judge()
	}
	for _, m := range g.batch {
		g.request(m)
	}
	clear(g.batch)
}

// catchUpLocked begins a turn. While the owner's loop was busy nobody was asked, and
// what came was not handled: that is a stall, too. A loop that lags all the time
// has it counted once.
func (g *group) catchUpLocked() {
	if !g.posted {
		return
	}
	g.posted = false
	lag := g.services.Awake() - g.postedSince
	grown := lag - g.lag
	g.lag = lag
	if grown > g.services.cfg.Interval/10 {
		g.excuseLocked(g.services.now(), int64(grown))
	}
}

// request sends one request, unless the target has been unmonitored meanwhile.
func (g *group) request(m *Monitor) {
	if !m.running() {
		return
	}
	if err := m.send(true); err != nil {
		m.Failed(err)
	}
}
