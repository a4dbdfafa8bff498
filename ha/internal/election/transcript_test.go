package election

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

var update = flag.Bool("update", false, "rewrite the transcripts' effects in testdata")

// TestTranscripts plays each of testdata/*.txt: a line at the margin is a time
// and an event, the indented lines after it are its effects, and => the state if
// it is another. A line that begins with # is a remark. -update writes what came
// out. T is 12 s, the margin 3 s; chance is always 0.5; answers are to the last
// call of their kind.
//
//	0s compete | retire | stop
//	0s opened | open failed
//	2s renewed | renewed 1s (from when the call began) | renew unreachable
//	3s free | held g9 epoch=4 | mine g1 epoch=4 | look unreachable
//	3s changed | over                     what the session notices
//	3s claimed epoch=5 | claim ambiguous | claim refused
//	3s released | release ambiguous | drained
//	3s resign g1 | fenced g1 epoch=9 | met 9
//	9s run | run renewing                  ticks until then; renewals succeed at once
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("it now is (-update writes it):\n%s", got)
			}
		})
	}
}

// player plays one transcript.
type player struct {
	t        *testing.T
	core     *Core
	out      bytes.Buffer
	state    State
	renewing bool
	started  time.Duration // of the last call

	open, look, claim, release uint64
	gen                        uint64
	grant, fence               ha.GrantID
	grants                     int
}

func play(t *testing.T, transcript string) []byte {
	p := &player{t: t, state: Joining}
	p.core = NewCore(CoreConfig{
		Timeout: 12 * time.Second, Resync: time.Minute,
		NewGrant: func() ha.GrantID {
			p.grants++
			return ha.GrantID(fmt.Sprintf("g%d", p.grants))
		},
		Rand: func() float64 { return 0.5 },
	})
	for line := range strings.SplitSeq(strings.TrimSuffix(transcript, "\n"), "\n") {
		if strings.HasPrefix(line, " ") {
			continue
		}
		fmt.Fprintln(&p.out, line)
		if line != "" && !strings.HasPrefix(line, "#") {
			p.line(strings.Fields(line))
		}
	}
	return p.out.Bytes()
}

func (p *player) line(words []string) {
	now, err := time.ParseDuration(words[0])
	if err != nil {
		p.t.Fatalf("%v: %v", words, err)
	}
	if words[1] != "run" {
		p.step(now, p.event(words[1:]), false)
		return
	}
	p.renewing = len(words) > 2
	for {
		next, ok := p.core.Next()
		if !ok || next > now {
			break
		}
		p.step(next, Tick{}, true)
	}
	p.renewing = false
}

// step takes in an event and shows what comes out.
func (p *player) step(now time.Duration, e Event, timed bool) {
	effects := p.core.Step(now, e)
	prefix := "    "
	if timed {
		prefix += now.Round(time.Millisecond).String() + " "
	}
	renew := false
	for _, effect := range effects {
		_, isRenew := effect.(Renew)
		renew = renew || isRenew
		if !isRenew || !p.renewing {
			fmt.Fprintf(&p.out, "%s%s\n", prefix, p.show(now, effect))
		}
	}
	if state := p.core.State(); state != p.state {
		fmt.Fprintf(&p.out, "%s=> %s\n", prefix, state)
		p.state = state
	}
	if renew && p.renewing {
		p.step(now, Renewed{Gen: p.gen, Started: now}, timed)
	}
}

func (p *player) event(words []string) Event {
	values := map[string]uint64{}
	var rest []string
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			rest = append(rest, w)
			continue
		}
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			p.t.Fatal(err)
		}
		values[key] = n
	}
	verb, arg := rest[0], ""
	if len(rest) > 1 {
		arg = rest[1]
	}
	epoch := ha.Epoch(values["epoch"])
	term := ha.Term{Epoch: epoch, Grant: ha.GrantID(arg)}
	causes := map[string]Cause{
		"unreachable": Unreachable, "ambiguous": Ambiguous, "refused": Refused, "over": SessionOver, "fenced": FencedOff,
	}
	switch verb {
	case "tick":
		return Tick{}
	case "compete", "retire":
		return Compete{On: verb == "compete"}
	case "opened":
		p.gen = p.open
		return Opened{Op: p.open, Lease: coord.Lease{Timeout: 12 * time.Second, Margin: 3 * time.Second}, Started: p.started}
	case "open":
		return OpenFailed{Op: p.open}
	case "renewed":
		started := p.started
		if arg != "" {
			started, _ = time.ParseDuration(arg)
		}
		return Renewed{Gen: p.gen, Started: started}
	case "renew":
		return RenewFailed{Gen: p.gen, Started: p.started, Cause: causes[arg]}
	case "free":
		return Looked{Op: p.look, Holder: coord.Holder{Term: term}}
	case "held", "mine":
		return Looked{Op: p.look, Holder: coord.Holder{Held: true, Mine: verb == "mine", Term: term}}
	case "look":
		return LookFailed{Op: p.look, Cause: causes[arg]}
	case "changed":
		return Changed{Gen: p.gen}
	case "over":
		return Over{Gen: p.gen}
	case "claimed":
		return Claimed{Op: p.claim, Term: ha.Term{Epoch: epoch, Grant: p.grant}}
	case "claim":
		return ClaimFailed{Op: p.claim, Cause: causes[arg]}
	case "released":
		return Released{Op: p.release}
	case "release":
		return ReleaseFailed{Op: p.release, Cause: causes[arg]}
	case "drained":
		return Drained{Grant: p.fence}
	case "resign":
		return Resign{Grant: ha.GrantID(arg)}
	case "fenced":
		return Fenced{Grant: ha.GrantID(arg), Epoch: epoch}
	case "met":
		n, _ := strconv.ParseUint(arg, 10, 64)
		return Met{Epoch: ha.Epoch(n)}
	case "stop":
		return Stop{}
	}
	p.t.Fatalf("unknown event %q", words)
	return nil
}

func (p *player) show(now time.Duration, effect Effect) string {
	switch e := effect.(type) {
	case Open:
		p.open, p.started = e.Op, now
		return fmt.Sprintf("open session %d", e.Op)
	case Renew:
		p.started = now
		return "renew"
	case Look:
		p.look = e.Op
		return "look"
	case Claim:
		p.claim, p.grant = e.Op, e.Grant
		return fmt.Sprintf("claim %s, above %d", e.Grant, e.Above)
	case Prepare:
		p.claim, p.grant = e.Op, e.Term.Grant
		return fmt.Sprintf("prepare %s", e.Term)
	case Release:
		p.release = e.Op
		return fmt.Sprintf("release %s", e.Term)
	case Drop:
		return fmt.Sprintf("drop session %d", e.Gen)
	case LinkUp:
		return "link up"
	case LinkDown:
		return "link down"
	case Grant:
		return fmt.Sprintf("grant %s", e.Term)
	case Revoke:
		p.fence = e.Term.Grant
		return fmt.Sprintf("revoke %s: %s", e.Term, e.Reason)
	case Overdue:
		return fmt.Sprintf("overdue %s", e.Term)
	case End:
		return "end"
	}
	return fmt.Sprintf("%T", effect)
}
