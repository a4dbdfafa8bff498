package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/ratelimit"
)

// reporter shows how a job stands. update comes several times a second from
// one goroutine at a time; stop ends it and may be called twice.
type reporter interface {
	update(p local.Progress)
	stop()
	// writer is where log lines go while the reporter shows something.
	writer() io.Writer
}

// newReporter makes the reporter of a --progress value; "" is a bar on a
// terminal and plain lines elsewhere.
func newReporter(kind, job string, w io.Writer) (reporter, error) {
	if kind == "" && terminal(w) {
		kind = "bar"
	}
	switch kind {
	case "none":
		return &silent{w: w}, nil
	case "", "plain":
		return &plain{w: w, job: job, now: time.Now, meter: meter{start: time.Now()}}, nil
	case "bar":
		return newBar(job, w), nil
	}
	return nil, usagef("--progress is none, bar or plain, not %q", kind)
}

// silent shows nothing.
type silent struct{ w io.Writer }

func (s *silent) update(local.Progress) {}
func (s *silent) stop()                 {}
func (s *silent) writer() io.Writer     { return s.w }

// plainInterval is the time between two lines of plain.
const plainInterval = 3 * time.Second

// plain prints a line every few seconds.
type plain struct {
	w     io.Writer
	job   string
	now   func() time.Time
	last  time.Time
	meter meter
}

func (p *plain) update(at local.Progress) {
	now := p.now()
	if p.last.IsZero() {
		p.last = now
	}
	p.meter.add(now, at)
	if now.Sub(p.last) < plainInterval {
		return
	}
	p.last = now
	_, _ = fmt.Fprintf(p.w, "%s: %s\n", p.job, p.meter.line())
}

func (p *plain) stop() {}

func (p *plain) writer() io.Writer { return p.w }

// meter makes rates and a guess at the time left from how a job stood.
type meter struct {
	start time.Time
	// samples are of the last seconds, the newest last.
	samples []sample
	// began is the first sample with a known share.
	began sample
	last  local.Progress
}

type sample struct {
	at    time.Time
	rows  int64
	bytes int64
	share float64
}

// meterWindow is the time over which rates are measured.
const meterWindow = 5 * time.Second

func (m *meter) add(now time.Time, p local.Progress) {
	m.last = p
	s := sample{at: now, rows: p.Read, bytes: p.BytesRead, share: p.Share}
	if m.began.at.IsZero() && p.Share >= 0 {
		m.began = s
	}
	m.samples = append(m.samples, s)
	for len(m.samples) > 2 && now.Sub(m.samples[1].at) >= meterWindow {
		m.samples = m.samples[1:]
	}
}

// rates returns records and bytes per second over the window.
func (m *meter) rates() (rows, bytes float64) {
	if len(m.samples) < 2 {
		return 0, 0
	}
	first, last := m.samples[0], m.samples[len(m.samples)-1]
	seconds := last.at.Sub(first.at).Seconds()
	if seconds <= 0 {
		return 0, 0
	}
	// What an attempt that failed had read is read again: not a rate.
	return max(0, float64(last.rows-first.rows)/seconds), max(0, float64(last.bytes-first.bytes)/seconds)
}

// left guesses the time left by the rate of this start; ok is false while
// there is too little to guess from.
func (m *meter) left() (d time.Duration, ok bool) {
	if len(m.samples) == 0 || m.began.at.IsZero() {
		return 0, false
	}
	last := m.samples[len(m.samples)-1]
	done, took := last.share-m.began.share, last.at.Sub(m.began.at)
	if done < 0.005 || took < time.Second {
		return 0, false
	}
	return time.Duration(float64(took) * (1 - last.share) / done), true
}

// limitText is a limit as people read it, "" for none.
func limitText(limit ratelimit.Amount) string {
	var parts []string
	if limit.Bytes > 0 {
		parts = append(parts, size(limit.Bytes)+"/s")
	}
	if limit.Records > 0 {
		parts = append(parts, count(limit.Records)+" rows/s")
	}
	return strings.Join(parts, " and ")
}

// line says how the job stands, in one line.
func (m *meter) line() string {
	rows, bytes := m.rates()
	parts := []string{
		count(m.last.Read) + " rows", size(m.last.BytesRead),
		rate(rows) + " rows/s", byteRate(bytes),
	}
	if limit := limitText(m.last.Limit); limit != "" {
		parts = append(parts, "limit "+limit, "waited "+span(m.last.Waited)+" (all subtasks together)")
	}
	if m.last.Dirty > 0 {
		parts = append(parts, count(m.last.Dirty)+" dirty")
	}
	if m.last.Share >= 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*m.last.Share))
	}
	if left, ok := m.left(); ok && m.last.Share < 1 {
		parts = append(parts, span(left)+" left")
	}
	return strings.Join(parts, ", ")
}
