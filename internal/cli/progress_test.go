package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/ratelimit"
)

func at(rows, bytes int64, share float64) local.Progress {
	return local.Progress{Counters: connector.Counters{Read: rows, BytesRead: bytes}, Share: share}
}

func TestPlainPrintsALineEveryFewSeconds(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1_700_000_000, 0)
	p := &plain{w: &out, job: "j", now: func() time.Time { return now }}
	for i := range 200 {
		p.update(at(int64(i)*1000, int64(i)*100_000, float64(i)/200))
		now = now.Add(50 * time.Millisecond)
	}
	p.stop()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines in 10 s:\n%s", len(lines), out.String())
	}
	if want := "j: 60,000 rows, 6.0 MB, 20,000 rows/s, 2.0 MB/s, 30 %, 7s left"; lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
}

func TestMeterWithoutAShareSaysNoTimeLeft(t *testing.T) {
	m := meter{}
	now := time.Unix(1_700_000_000, 0)
	m.add(now, at(0, 0, -1))
	m.add(now.Add(2*time.Second), at(10, 20, -1))
	if got := m.line(); got != "10 rows, 20 B, 5 rows/s, 10 B/s" {
		t.Errorf("got %s", got)
	}
}

// With a limit the line says it, and how long it has been waited for.
func TestTheLineShowsTheLimit(t *testing.T) {
	m := meter{}
	now := time.Unix(1_700_000_000, 0)
	m.add(now, at(0, 0, -1))
	p := at(20, 40, -1)
	p.Limit, p.Waited = ratelimit.Amount{Bytes: 20 << 20, Records: 1500}, 3*time.Second
	m.add(now.Add(2*time.Second), p)
	if got := m.line(); got != "20 rows, 40 B, 10 rows/s, 20 B/s, limit 21.0 MB/s and 1,500 rows/s, waited 3s (all subtasks together)" {
		t.Errorf("got %s", got)
	}
}

// What is slower than one in a second does not look as if it stood still.
func TestTheLineShowsSlowRates(t *testing.T) {
	m := meter{}
	now := time.Unix(1_700_000_000, 0)
	m.add(now, at(0, 0, -1))
	m.add(now.Add(4*time.Second), at(1, 10, -1))
	if got := m.line(); got != "1 rows, 10 B, 0.25 rows/s, 2.5 B/s" {
		t.Errorf("got %s", got)
	}
}

// On a resume the share begins where the run stood: the time left is by what
// this start has done.
func TestMeterCountsFromWhereThisStartBegan(t *testing.T) {
	m := meter{}
	now := time.Unix(1_700_000_000, 0)
	m.add(now, at(900, 0, 0.9))
	m.add(now.Add(10*time.Second), at(950, 0, 0.95))
	if left, ok := m.left(); !ok || left.Round(time.Second) != 10*time.Second {
		t.Errorf("left %s, %v", left, ok)
	}
}

func TestBarEndsWhateverTheJobDoes(t *testing.T) {
	for _, shares := range [][]float64{{}, {-1, -1}, {0.1, 0.5}, {0.5, 1, 1}, {1}} {
		var out bytes.Buffer
		b := newBar("orders", &out)
		for _, s := range shares {
			b.update(at(1000, 1000, s))
		}
		if _, err := io.WriteString(b.writer(), "a log line\n"); err != nil {
			t.Error(err)
		}
		b.stop()
		b.stop()
		if strings.Contains(out.String(), "orders") != (len(shares) > 0) {
			t.Errorf("%v: %q", shares, out.String())
		}
		if _, err := io.WriteString(b.writer(), "after\n"); err != nil {
			t.Error(err)
		}
		if !strings.Contains(out.String(), "a log line\n") || !strings.HasSuffix(out.String(), "after\n") {
			t.Errorf("%v: %q", shares, out.String())
		}
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := count(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_999: "1.0 MB", 62_000_000: "62.0 MB", 1 << 62: "4611.7 PB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for r, want := range map[float64]string{0: "0", 0.001: "under 0.01", 0.5: "0.5", 0.123: "0.12", 9.96: "10", 10: "10", 12345.6: "12,345"} {
		if got := rate(r); got != want {
			t.Errorf("%g: %s, want %s", r, got, want)
		}
	}
	for r, want := range map[float64]string{0: "0 B/s", 0.5: "0.5 B/s", 2048: "2.0 kB/s"} {
		if got := byteRate(r); got != want {
			t.Errorf("%g: %s, want %s", r, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		120 * time.Millisecond: "0.12s", 3 * time.Second: "3s", 45 * time.Second: "45s", 200 * time.Second: "3m20s", 125 * time.Minute: "2h05m", 0: "0s",
	} {
		if got := span(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}

func TestSummaryText(t *testing.T) {
	s := local.Summary{Job: "o", State: jobmaster.DoneWithDirty, Read: 2000, Written: 1990, Dirty: 7, Filtered: 3, BytesRead: 5000, BytesWritten: 4000, Seconds: 2}
	if got, want := summaryText(s), "o: done, with dirty records, in 2s: 2,000 read, 1,990 written, 3 filtered, 7 dirty (5.0 kB in, 4.0 kB out, 1,000 rows/s)\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	s.LimitRecords, s.Waited = 1000, 1.5
	if got := summaryText(s); !strings.HasSuffix(got, ", 1,000 rows/s, limit 1,000 rows/s, waited 1.5s for it, all subtasks together)\n") {
		t.Errorf("got %s", got)
	}
}
