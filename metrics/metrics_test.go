package metrics_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/metrics"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// lines returns what the registry serves, without comments, in order.
func lines(r *metrics.Registry) []string {
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(w.Result().Body)
	var out []string
	for line := range strings.Lines(string(body)) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestEachKindIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := metrics.NewRegistry()
		g := r.Group("leat").Group("subtask").With("job", "orders").With("subtask", "3")
		g.Counter("errors", "dirty records").Add(2)
		open := g.UpDown("open", "open things")
		open.Inc()
		open.Inc()
		open.Dec()
		g.Gauge("share", "part done").Set(0.5)
		g.GaugeFunc("twice", "asked for", func() float64 { return 2 })
		g.Duration("read", "time spent reading").Add(1500 * time.Millisecond)
		h := g.Histogram("batch_bytes", "sizes", 10, 100)
		h.Observe(10)
		h.Observe(11)
		h.Observe(1000)
		g.Meter("read_records", "records").Mark(40)
		advance(t, 10*time.Second)
		l := `{job="orders",subtask="3"}`
		bucket := func(le string) string {
			return fmt.Sprintf(`leat_subtask_batch_bytes_bucket{job="orders",subtask="3",le="%s"} `, le)
		}
		same(t, lines(r),
			"leat_subtask_errors_total"+l+" 2",
			"leat_subtask_open"+l+" 1",
			"leat_subtask_share"+l+" 0.5",
			"leat_subtask_twice"+l+" 2",
			"leat_subtask_read_seconds_total"+l+" 1.5",
			bucket("10")+"1", bucket("100")+"2", bucket("+Inf")+"3",
			"leat_subtask_batch_bytes_sum"+l+" 1021",
			"leat_subtask_batch_bytes_count"+l+" 3",
			"leat_subtask_read_records_total"+l+" 40",
			"leat_subtask_read_records_per_second"+l+" 4",
		)
	})
}

// advance lets time pass in a bubble.
func advance(t *testing.T, d time.Duration) {
	timer := time.NewTimer(d)
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

// A meter tells the rate of the last 20 seconds, whatever came before.
func TestMeterRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.NewRegistry().Group("x").Meter("m", "events")
		if m.Rate() != 0 {
			t.Error("a rate without an event")
		}
		for range 600 { // a minute at 100 per second
			m.Mark(10)
			advance(t, 100*time.Millisecond)
		}
		near(t, "steady", m.Rate(), 100)
		for range 50 { // 5 s at 500 per second: 20 s hold 15 s of the one and 5 s of the other
			m.Mark(50)
			advance(t, 100*time.Millisecond)
		}
		near(t, "faster", m.Rate(), 200)
		advance(t, 10*time.Second)
		near(t, "none for ten seconds", m.Rate(), (5*100+5*500)/20.)
		advance(t, time.Hour)
		if m.Rate() != 0 || m.Count() != 8500 {
			t.Errorf("rate %g, count %d", m.Rate(), m.Count())
		}
	})
}

// A restored meter goes on with number and rate.
func TestMeterGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.NewRegistry().Group("x").Meter("m", "events")
		m.Restore(1000, 50)
		near(t, "restored", m.Rate(), 50)
		for range 100 {
			m.Mark(5)
			advance(t, 100*time.Millisecond)
		}
		near(t, "gone on with", m.Rate(), 50)
		if m.Count() != 1500 {
			t.Errorf("count %d", m.Count())
		}
	})
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < 0.96*want || got > 1.04*want {
		t.Errorf("%s: rate %g, want %g", what, got, want)
	}
}

func TestRegistriesAreApart(t *testing.T) {
	a, b := metrics.NewRegistry(), metrics.NewRegistry()
	a.Group("x").Counter("n", "a number").Inc()
	if len(lines(b)) != 0 || len(lines(a)) != 1 {
		t.Error("one registry shows the other's")
	}
}

// The same name of the same scope is the same metric; a group that is closed
// takes its own and those below it, and no other.
func TestGroups(t *testing.T) {
	r := metrics.NewRegistry()
	one, two := r.Group("leat").With("job", "a"), r.Group("leat").With("job", "b")
	one.Counter("n", "").Inc()
	one.Counter("n", "").Inc()
	one.Group("sub").With("k", "v").Counter("m", "").Inc()
	two.Counter("n", "").Inc()
	if one.Group("sub").Scope() != `leat_sub{job="a"}` {
		t.Error(one.Group("sub").Scope())
	}
	same(t, lines(r), `leat_n_total{job="a"} 2`, `leat_n_total{job="b"} 1`, `leat_sub_m_total{job="a",k="v"} 1`)
	one.Close()
	same(t, lines(r), `leat_n_total{job="b"} 1`)
	defer func() {
		if recover() == nil {
			t.Error("a counter is taken for a gauge")
		}
	}()
	two.Gauge("n", "")
}

func TestCountersOnlyGrow(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a counter went down")
		}
	}()
	metrics.NewRegistry().Group("x").Counter("n", "").Dec()
}

// Everything may be used from any goroutine, and served meanwhile.
func TestConcurrentUse(t *testing.T) {
	r := metrics.NewRegistry()
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			g := r.Group("x").With("i", fmt.Sprint(i%2))
			for range 1000 {
				g.Counter("n", "").Inc()
				g.Meter("m", "").Mark(2)
				g.Histogram("h", "", 1, 2).Observe(1.5)
				g.Duration("d", "").Add(time.Second)
			}
		})
	}
	for range 20 {
		lines(r)
	}
	work.Wait()
	sum := int64(0)
	for i := range 2 {
		g := r.Group("x").With("i", fmt.Sprint(i))
		sum += g.Counter("n", "").Value() + g.Meter("m", "").Count()
		if _, n, total := g.Histogram("h", "", 1, 2).Snapshot(); n != 2000 || total != 3000 {
			t.Errorf("%d values of %g", n, total)
		}
	}
	if sum != 12000 {
		t.Errorf("counted %d", sum)
	}
}
