package ratelimit_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// Limiters of a ledger that has no limit, which were made to wait for their first
// lease, hear at once that everything passes; also when the first word is lost.
func TestNoLimitIsToldToo(t *testing.T) {
	t.Parallel()
	for _, lost := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newSim(t, ratelimit.Config{Parallelism: 2})
			s.with(func() { s.cut[0], s.cut[1] = lost > 0, lost > 0 })
			s.work.Go(func() {
				if s.until(lost) {
					s.with(func() { clear(s.cut) })
				}
			})
			for i, l := range s.limiters {
				if err := l.Wait(t.Context(), ratelimit.Amount{Bytes: 1 << 40, Records: 1}); err != nil || l.On() {
					t.Errorf("worker %d: %v, on: %t", i, err, l.On())
				}
			}
			// It may be between two reports when it is heard again.
			if took := s.now(); took > lost+30*time.Millisecond {
				t.Errorf("they passed after %s", took)
			}
			s.end(s.now())
		})
	}
}

// What a lease held when the limit ended is no part of a later limit: that is used
// whole, also after another change.
func TestLimitsAfterNoneAreUsedWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, ratelimit.Config{Parallelism: 2, Limit: ratelimit.Amount{Bytes: 1_000_000}})
		read := func(seconds int) {
			to := s.now() + time.Duration(seconds)*time.Second
			s.read(0, 100, s.now(), to)
			s.read(1, 100, s.now(), to)
			s.until(to)
		}
		read(3)
		for range 5 {
			s.change(ratelimit.Amount{})
			s.until(s.now() + 20*time.Millisecond)
			s.change(ratelimit.Amount{Bytes: 1_000_000})
			s.until(s.now() + 50*time.Millisecond)
			read(2)
		}
		s.change(ratelimit.Amount{Bytes: 2_000_000})
		s.with(func() { s.passed = nil })
		b := bound{of: bytesOf, limit: 2_000_000, record: 100, begin: s.now() + time.Second, end: s.now() + 12*time.Second}
		read(12)
		s.end(b.end)
		s.check(t, b)
	})
}

// A limit of less than nothing is refused with what would do.
func TestLimitsAreValid(t *testing.T) {
	for _, c := range []struct {
		cfg  ratelimit.Config
		want string
	}{
		{ratelimit.Config{}, ""},
		{ratelimit.Config{Limit: ratelimit.Amount{Bytes: -1}}, "a limit of -1 bytes per second is less than 0: 0 is no limit"},
		{ratelimit.Config{Limit: ratelimit.Amount{Records: -2}}, "a limit of -2 records per second is less than 0: 0 is no limit"},
		{ratelimit.Config{Parallelism: -1}, "a parallelism of -1 is less than 1"},
		{ratelimit.Config{Window: time.Millisecond}, "a window of 1ms is not within 100ms and 500ms"},
		{ratelimit.Config{Limit: ratelimit.Amount{Bytes: -3, Records: -3}, Window: time.Second}, "-3 bytes per second is less than 0: 0 is no limit\na limit of -3 records per second is less than 0: 0 is no limit\na window of 1s"},
	} {
		err := c.cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
		func() {
			defer func() {
				if r := recover(); (r != nil) != (c.want != "") {
					t.Errorf("%+v: NewLedger panics with %v", c.cfg, r)
				}
			}()
			ratelimit.NewLedger(c.cfg)
		}()
	}
	l := ratelimit.NewLedger(ratelimit.Config{Limit: ratelimit.Amount{Bytes: 5}})
	if err := l.Change(ratelimit.Amount{Bytes: -1}); err == nil || l.Limit() != (ratelimit.Amount{Bytes: 5}) {
		t.Errorf("a change to less than nothing: %v, the limit is %s", err, l.Limit())
	}
}
