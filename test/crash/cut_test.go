package crash

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// TestCutConnections cuts all connections to the database at random moments,
// by reset and by an ordinary close, which could be taken for an end: no row
// is lost or doubled, and no end comes early (exactness rules 4 and 12).
func TestCutConnections(t *testing.T) {
	t.Parallel()
	cuts := int(number(t, "LEAT_KILLS", 4))
	seed := number(t, "LEAT_SEED", time.Now().UnixNano())
	t.Logf("LEAT_SEED=%d", seed)
	for i, p := range pairs(newSources(t)) {
		servers := p.servers(t)
		if len(servers) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			took := newRunner(t, p.setUp(t)).run(t)
			for _, style := range []testenv.CutStyle{testenv.Reset, testenv.Finish} {
				s := p.setUp(t)
				var proxies []*testenv.Proxy
				for _, addr := range servers {
					proxy := testenv.NewProxy(t, addr)
					proxy.Style(style)
					s.job = strings.ReplaceAll(s.job, addr, proxy.Addr())
					proxies = append(proxies, proxy)
				}
				r := newRunner(t, s)
				running := testenv.StartProcess(t, r.command(""))
				for range cuts {
					timer := time.NewTimer(time.Duration(random.Int64N(int64(took))))
					select {
					case <-timer.C:
						proxies[random.IntN(len(proxies))].CutAll()
					case <-running.Done():
						timer.Stop()
					}
				}
				// A cut before there is a run, or at its very end, may fail the
				// process; the run is then gone on with, as its user would.
				if exit := running.Wait(t); exit.Code != 0 && exit.Code != 1 {
					t.Fatalf("exit code %d\n%s", exit.Code, running.Stderr())
				}
				if !r.finished(t) {
					r.run(t)
				}
				check(t, s)
			}
		})
	}
}
