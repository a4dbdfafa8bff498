package heartbeat

import "time"

// Many targets that are late at once, more than a fifth of them and at least five,
// are a sign that it is we who do not hear.
const (
	manyLeast = 5
	manyShare = 5
)

// many says whether so many of all late at once are more than can be believed.
func many(late, all int) bool { return late >= manyLeast && late*manyShare > all }

// judge decides who is lost. It runs on the owner's loop, behind every heartbeat
// that was queued when somebody was found late, and decides one by one, so that
// what the listener does about the first counts for the next.
func (g *group) judge() {
	late := g.late()
	for _, m := range late {
		g.expire(m)
	}
	g.mu.Lock()
	g.judging = false
	g.sweepLocked(g.services.now())
	g.mu.Unlock()
}

// late is who is over the deadline. When they are many, those that come late for
// the first time get one timeout more, once.
//
// Requests are spread over an interval, and so is the silence that begins when we
// are cut off: who would be lost within the next interval is counted with those
// that are late now, as long as nobody counts whose next answer may just be on its
// way.
func (g *group) late() []*Monitor {
	g.mu.Lock()
	defer g.mu.Unlock()
	timeout, interval := int64(g.services.cfg.Timeout), int64(g.services.cfg.Interval)
	margin := min(interval, (timeout-interval)/2)
	now := g.services.now()
	var late []*Monitor
	var soon []*watched
	waiting := 0
	for i := range g.targets {
		w := &g.targets[i]
		deadline := w.deadline(timeout)
		switch {
		case w.m.doubted:
			waiting++
			if now >= deadline {
				late = append(late, w.m)
			}
		case now >= deadline-margin:
			soon = append(soon, w)
		}
	}
	if many(len(soon)+waiting, len(g.targets)) {
		for _, w := range soon {
			w.m.doubted = true
			w.allowed += timeout
		}
		if len(soon) > 0 {
			g.log.Warn("many heartbeat targets are late at once: waiting one timeout more",
				"late", len(soon)+waiting, "targets", len(g.targets))
		}
		return late
	}
	for _, w := range soon {
		if now >= w.deadline(timeout) {
			late = append(late, w.m)
		}
	}
	return late
}

// expire gives up a target that is still late.
func (g *group) expire(m *Monitor) {
	g.mu.Lock()
	now := g.services.now()
	lost := m.running() && now >= g.targets[m.index].deadline(int64(g.services.cfg.Timeout)) && g.endLocked(m, TimedOut)
	g.mu.Unlock()
	if lost {
		g.report(m, Silence, now)
	}
}

// giveUp gives up a target whose address has refused often enough, unless it was
// heard since.
func (g *group) giveUp(m *Monitor) {
	g.mu.Lock()
	now := g.services.now()
	lost := m.running() && m.handle.last.Load() <= m.refusedAt && g.endLocked(m, TimedOut)
	g.mu.Unlock()
	if lost {
		g.report(m, Refusals, now)
	}
}

func (g *group) report(m *Monitor, reason Reason, now int64) {
	g.lost(m, Loss{
		Reason: reason, LastHeartbeat: m.LastHeartbeat(), Generation: m.generation,
		Silent: time.Duration(now - m.handle.silentSince()),
	})
}
