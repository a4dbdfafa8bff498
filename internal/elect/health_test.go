package elect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// status asks who leads.
func (r *rig) status() Status {
	r.t.Helper()
	p, exit := testenv.RunProcess(r.t, r.command("status", r.arguments(r.servers, "--status", "--json")))
	var s Status
	if err := json.Unmarshal([]byte(p.Stdout()), &s); err != nil || exit.Code != 0 {
		r.t.Fatalf("exit %+v, %v: %s\n%s", exit, err, p.Stdout(), p.Stderr())
	}
	return s
}

// Who is not healthy leaves the election, at once and of his own accord, and comes
// back. One that never was healthy does not compete.
func TestHealth(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	well := filepath.Join(r.dir, "a-is-well")
	check := []string{"--health", `test -e "$RIG/$WHO-is-well" || { echo "not well"; exit 1; }`, "--health-interval", "200ms"}
	a := r.start("a", obedient(0), check...)
	a.WaitStderr(t, "not well")
	if s := r.status(); s.Held || len(s.Contenders) > 0 {
		t.Errorf("it competes, and is not well: %+v", s)
	}
	touch(t, well)
	first := r.awaitStart("a", 0)
	b := r.start("b", obedient(0))
	b.WaitStderr(t, "another process leads")
	ill := time.Now()
	if err := os.Remove(well); err != nil {
		t.Fatal(err)
	}
	second := r.awaitStart("b", 1)
	r.soon("the handover", ill)
	if second.epoch <= first.epoch {
		t.Errorf("epoch %d after %d", second.epoch, first.epoch)
	}
	await(t, "only b competes", func() bool { return slices.Equal(r.status().Contenders, []string{"b"}) })
	touch(t, well)
	await(t, "both compete", func() bool { return slices.Equal(sorted(r.status().Contenders), []string{"a", "b"}) })
	r.check()
}

// A check that hangs counts as failed, and is killed with what it has begun.
func TestHealthCheckThatHangs(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	a := r.start("a", obedient(0), "--health-interval", "300ms", "--health",
		`test -z "$LEAT_EPOCH" && exit 0; exec 8>"$RIG/hangs"; flock 8; sleep 1000`)
	a.WaitStderr(t, "the health check took longer than 300ms")
	r.awaitStart("a", 1) // it was well again as soon as it did not lead
	r.check()
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

func touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	if s := r.status(); s.Held || s.Epoch != 0 || len(s.Contenders) > 0 || s.Lock != "db" {
		t.Errorf("nobody has been there: %+v", s)
	}
	before := time.Now()
	a := r.start("a", obedient(0))
	started := r.awaitStart("a", 0)
	b := r.start("b", obedient(0))
	await(t, "both compete", func() bool { return len(r.status().Contenders) == 2 })
	s := r.status()
	if !s.Held || s.Leader != "a" || int(s.Epoch) != started.epoch || !slices.Equal(sorted(s.Contenders), []string{"a", "b"}) {
		t.Errorf("%+v, started %+v", s, started)
	}
	if s.Since.Before(before.Add(-time.Second)) || s.Since.After(time.Now().Add(time.Second)) {
		t.Errorf("since %s", s.Since)
	}
	b.Kill(t)
	text, exit := testenv.RunProcess(t, r.command("status", r.arguments(r.servers, "--status")))
	for _, want := range []string{"lock:        db\n", "leader:      a\n", "since:  ", "epoch:       1\n", "contenders:  a"} {
		if exit.Code != 0 || !strings.Contains(text.Stdout(), want) {
			t.Errorf("no %q in, exit %+v:\n%s%s", want, exit, text.Stdout(), text.Stderr())
		}
	}
	a.Signal(t, syscall.SIGTERM)
	a.Wait(t)
	if s := r.status(); s.Held || s.Leader != "a" || s.Epoch != 1 {
		t.Errorf("nobody leads any more: %+v", s)
	}
}

func TestStatusOfAFolderInUse(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	a := r.start("a", obedient(0))
	r.awaitStart("a", 0)
	if s := r.status(); !s.Held || s.Leader != "a" || s.Epoch != 1 {
		t.Errorf("%+v", s)
	}
	a.Kill(t)
	r.awaitNothing()
	if s := r.status(); s.Held || s.Leader != "a" || s.Epoch != 1 {
		t.Errorf("%+v", s)
	}
}
