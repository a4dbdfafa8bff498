//go:build !race

package heartbeat

import "testing"

// A heartbeat received makes no garbage, by its handle or by its id, and neither do
// a sweep and the sending of requests.
func TestAllocNothingPerHeartbeat(t *testing.T) {
	const n = 1000
	g, list := monitors(t, n)
	m := &Manager[string, string]{group: g, own: "master", listener: quiet{}, log: g.log}
	payload := "report"
	i := 0
	for name, f := range map[string]func(){
		"heard":    func() { list[i%n].Heard() },
		"received": func() { m.Receive(Beat[string]{From: list[i%n].id, Payload: &payload}) },
		"tick":     func() { g.tick(g.services.now(), 0, 1) },
		"sweep": func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.sweepLocked(g.services.now())
		},
	} {
		for range 200 { // A turn's memory is made once.
			f()
		}
		if allocs := testing.AllocsPerRun(1000, func() { i++; f() }); allocs != 0 {
			t.Errorf("%s: %.2f allocations", name, allocs)
		}
	}
}
