package heartbeat

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A transcript has a line per input, "50s unreachable w", and below it, indented,
// what comes out.
func transcript(t *testing.T, text string, step func(at time.Duration, words []string) []string) {
	t.Helper()
	var got, want []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		want = append(want, line)
		if strings.HasPrefix(line, "=>") {
			continue
		}
		got = append(got, line)
		words := strings.Fields(line)
		at, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range step(at, words[1:]) {
			got = append(got, "=> "+out)
		}
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("the transcript is\n%s\nwant\n%s", a, b)
	}
}

func newWitnesses(t *testing.T, cfg Config, kinds Kinds) *Witnesses {
	t.Helper()
	w, err := NewWitnesses(cfg, kinds)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newFence(t *testing.T, cfg Config, kinds Kinds, now time.Duration) *Fence {
	t.Helper()
	f, err := NewFence(cfg, kinds, now)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func judged(t *testing.T, kinds Kinds, text string) {
	t.Helper()
	w := newWitnesses(t, Config{}, kinds)
	inputs := map[string]Testimony{
		"registered": Registered, "reached": Reached, "unreachable": Unreachable,
		"moves": CounterMoves, "stands": CounterStands, "vanished": CounterVanished, "left": Left,
	}
	transcript(t, text, func(at time.Duration, words []string) (out []string) {
		if words[0] == "tick" {
			for _, c := range w.Tick(at) {
				out = append(out, fmt.Sprintf("%s: %s", c.Worker, c.To))
			}
			if next, ok := w.Next(); ok {
				out = append(out, fmt.Sprintf("next at %s", next))
			}
			return out
		}
		if c, changed := w.Step(at, Input{ID(words[1]), inputs[words[0]]}); changed {
			out = append(out, fmt.Sprintf("%s: %s", c.Worker, c.To))
		}
		return out
	})
}

// The table of two witnesses, row by row. A worker that comes back before its work
// was given away keeps its registration (a case of the coordination list: "services
// deleted though the node came back before migration").
func TestTwoWitnesses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rpc ok: alive whatever the counter says": `
			0s registered w
			=> w: alive
			1s moves w
			30s stands w
			=> w: alive (stale counter)
			500s tick
			600s moves w
			=> w: alive`,
		"rpc lost, counter moving: suspect until the limit": `
			0s registered w
			=> w: alive
			1s moves w
			100s unreachable w
			=> w: suspect
			249s tick
			=> next at 4m10s
			250s tick
			=> w: dead
			251s moves w
			252s reached w
			300s registered w
			=> w: alive`,
		"both lost: dead, in either order": `
			0s registered a
			=> a: alive
			0s registered b
			=> b: alive
			50s unreachable a
			=> a: suspect
			60s stands a
			=> a: dead
			60s stands b
			=> b: alive (stale counter)
			70s unreachable b
			=> b: dead`,
		"a suspect that is back before anything was given away keeps all it had": `
			0s registered w
			=> w: alive
			50s unreachable w
			=> w: suspect
			199s reached w
			=> w: alive
			300s tick
			310s unreachable w
			=> w: suspect
			459s tick
			=> next at 7m40s`,
		"found lost twice, the limit runs from the first": `
			0s registered w
			=> w: alive
			50s unreachable w
			=> w: suspect
			190s unreachable w
			200s moves w
			=> w: dead`,
		"who is dead is let back in only by registering anew": `
			0s registered w
			=> w: alive
			60s stands w
			=> w: alive (stale counter)
			61s unreachable w
			=> w: dead
			62s moves w
			63s reached w
			64s tick
			65s stands w
			66s registered w
			=> w: alive
			90s stands w
			=> w: alive (stale counter)`,
		"who has not registered is nobody, and may have a counter": `
			0s moves w
			1s unreachable x
			2s stands w
			3s registered w
			=> w: alive
			4s left w
			=> w: unknown
			5s left w
			6s reached w
			7s moves v
			8s vanished v
			9s vanished v
			10s registered v
			=> v: alive
			11s vanished v
			=> v: alive (stale counter)`,
		"one suspect's time is not another's": `
			0s registered a
			=> a: alive
			0s registered b
			=> b: alive
			0s registered c
			=> c: alive
			10s unreachable b
			=> b: suspect
			10s unreachable a
			=> a: suspect
			40s unreachable c
			=> c: suspect
			160s tick
			=> a: dead
			=> b: dead
			=> next at 3m10s
			190s tick
			=> c: dead`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged(t, Both, text)
		})
	}
}

// With one kind of heartbeat it alone decides.
func TestOneWitness(t *testing.T) {
	t.Parallel()
	judged(t, RPC, `
		0s registered w
		=> w: alive
		10s stands w
		50s unreachable w
		=> w: dead
		60s reached w
		70s registered w
		=> w: alive`)
	judged(t, Counter, `
		0s registered w
		=> w: alive
		10s unreachable w
		20s stands w
		=> w: dead
		25s moves w
		30s registered w
		=> w: alive`)
}

func fenced(t *testing.T, kinds Kinds, text string) {
	t.Helper()
	f := newFence(t, Config{}, kinds, 0)
	transcript(t, text, func(at time.Duration, words []string) []string {
		switch words[0] {
		case "registered":
			f.Registered(at)
		case "heard":
			f.Heard(at, ID(words[1]))
		case "wrote":
			f.Wrote(at)
		case "leader":
			f.Leader(at, ID(strings.Join(words[1:], "")))
		case "tick":
			if r := f.Tick(at); r != 0 {
				return []string{r.String()}
			}
			return []string{fmt.Sprintf("until %s", f.Next())}
		default:
			t.Fatalf("what is %q?", words)
		}
		return nil
	})
}

// When a worker stops by itself.
func TestFence(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"both have failed it for the grace": `
			30s heard m
			35s wrote
			94s tick
			=> until 1m35s
			95s tick
			=> orphaned`,
		"a store that is away does not stop work": `
			10s leader m
			1000s heard m
			1010s tick
			=> until 17m40s
			2000s heard m
			2010s tick
			=> until 34m20s`,
		"a master that is away does not stop work while none is named": `
			10s leader m
			20s heard m
			30s leader
			1000s wrote
			1001s tick
			=> until 17m40s`,
		"the leader that the store names has given it up": `
			10s leader m
			20s heard m
			160s wrote
			169s tick
			=> until 2m50s
			170s tick
			=> given up`,
		"a new leader has its own time": `
			10s leader m
			20s heard m
			100s leader n
			240s wrote
			249s tick
			=> until 4m10s
			249s heard m
			249s leader n
			250s tick
			=> given up`,
		"another master's heartbeats keep it while the store is away": `
			10s leader m
			20s heard m
			100s heard n
			159s tick
			=> until 2m40s
			160s tick
			=> orphaned`,
		"once fenced, it stays so until it registers": `
			60s tick
			=> orphaned
			61s heard m
			61s wrote
			62s tick
			=> orphaned
			63s registered
			64s tick
			=> until 2m3s`,
		"an older write does not take back a newer one": `
			50s wrote
			40s wrote
			100s tick
			=> until 1m50s`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fenced(t, Both, text)
		})
	}
	fenced(t, RPC, `
		10s heard m
		11s leader m
		69s wrote
		70s tick
		=> orphaned`)
	fenced(t, Counter, `
		10s wrote
		60s heard m
		70s tick
		=> orphaned`)
}

// Nobody works on who has been given up: whenever a worker and its master lost each
// other, and whatever the phases of their clocks, the worker has fenced itself
// before its time as a suspect is over.
func TestWorkerStopsBeforeItsMasterGivesItUp(t *testing.T) {
	t.Parallel()
	cfg := Config{}.WithDefaults()
	for cut := time.Duration(0); cut < 2*cfg.Interval; cut += 100 * time.Millisecond {
		// A request per interval; answers come at once, or the last is lost.
		lastRequest := cut.Truncate(cfg.Interval)
		for _, lastAnswer := range []time.Duration{lastRequest, lastRequest - cfg.Interval} {
			w := newWitnesses(t, cfg, Both)
			w.Step(0, Input{"w", Registered})
			w.Step(max(0, lastAnswer)+cfg.Timeout, Input{"w", Unreachable})
			givenUp, suspect := w.Next()
			f := newFence(t, cfg, Both, 0)
			f.Leader(0, "m")
			f.Heard(lastRequest, "m")
			f.Wrote(time.Hour)
			if stops := f.Next(); !suspect || stops >= givenUp {
				t.Fatalf("cut at %s: the worker stops at %s, its master gives it up at %s", cut, stops, givenUp)
			}
		}
	}
}
