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
	pg := testenv.Postgres(t)
	for i, p := range pairs() {
		if !strings.Contains(p.name, "postgres") {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			took := newRunner(t, p.setUp(t)).run(t)
			for _, style := range []testenv.CutStyle{testenv.Reset, testenv.Finish} {
				s := p.setUp(t)
				proxy := testenv.NewProxy(t, pg.Addr())
				proxy.Style(style)
				s.job = strings.ReplaceAll(s.job, pg.Addr(), proxy.Addr())
				r := newRunner(t, s)
				running := testenv.StartProcess(t, r.command(""))
				for range cuts {
					timer := time.NewTimer(time.Duration(random.Int64N(int64(took))))
					select {
					case <-timer.C:
						proxy.CutAll()
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
