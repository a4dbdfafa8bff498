package database

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// earlierOf is an Earlier over one open run, and what it gives up.
func earlierOf(open OpenRun, looked *Marker) (*Earlier, *[]string) {
	var given []string
	return &Earlier{
		Log: slog.New(slog.DiscardHandler), Mode: Append,
		Look:   func(string) (*Marker, error) { return looked, nil },
		Open:   func() ([]OpenRun, error) { return []OpenRun{open}, nil },
		GiveUp: func(old string) error { given = append(given, old); return nil },
	}, &given
}

// An open run that the state does not know is refused with the job that began
// it, when, and the ways out; and given up only where the user says so.
func TestAnOpenRunIsRefused(t *testing.T) {
	t.Parallel()
	open := OpenRun{Run: "r1", Job: "nightly", Started: "2026-11-30 23:15:00.123456+00"}
	for job, words := range map[string][]string{
		"orders":  {`job "nightly"`, "2026-11-30 23:15:00 UTC", "r1", "--state", "--restart"},
		"nightly": {"this job with another state folder", "r1", "--state", "--restart"},
	} {
		e, given := earlierOf(open, nil)
		err := e.Settle(connector.Run{ID: "r2", Job: job, Fresh: true})
		for _, w := range words {
			if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v does not say %q", job, err, w)
			}
		}
		if len(*given) != 0 {
			t.Errorf("%s: given up %q", job, *given)
		}
	}
	e, given := earlierOf(open, nil)
	if err := e.Settle(connector.Run{ID: "r2", Job: "orders", Fresh: true, Restart: true}); err != nil || !slices.Equal(*given, []string{"r1"}) {
		t.Errorf("with --restart: %v, given up %q", err, *given)
	}
	if err := e.Settle(connector.Run{ID: "r3", Job: "orders"}); err != nil {
		t.Errorf("after a run that is known and has ended: %v", err)
	}
}

// A run that is given up and had finished is not copied again in mode append,
// unless the user wants it.
func TestAFinishedRunIsNotAppendedAgain(t *testing.T) {
	t.Parallel()
	run := connector.Run{ID: "r2", Restart: true, Abandoned: "r1"}
	e, _ := earlierOf(OpenRun{}, &Marker{Run: "r1", Outcome: Finished, Target: `"t"`})
	if err := e.Settle(run); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "--keep-rows") {
		t.Errorf("mode append: %v", err)
	}
	run.KeepRows = true
	if err := e.Settle(run); err != nil {
		t.Errorf("with --keep-rows: %v", err)
	}
	run.KeepRows, e.Mode = false, Truncate
	if err := e.Settle(run); err != nil {
		t.Errorf("mode truncate: %v", err)
	}
}
