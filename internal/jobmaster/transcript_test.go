package jobmaster_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/ratelimit"
)

var update = flag.Bool("update", false, "rewrite the transcripts' effects in testdata")

// TestTranscripts plays each of testdata/*.txt: a line at the margin is an
// event, the indented lines after it are the effects that it has. A line that
// begins with # is a remark. -update writes the effects that came out.
//
//	config guarantee=position records=0    a new job; before anything else
//	start                                  its first effects
//	crash                                  all is lost but the last stored state; a start with a higher epoch
//	slot 0 | lost 0 1 | tick 5s | cancel | finished
//	found 0 1 next=a | found 2 done        Enumerate's answer
//	stored | stored 3                      the last Store's answer, or that version's
//	registered | registered 0 1            the last Register's answer, or for these
//	states 0:done,read=5,written=5 1:      ReadStates' answer
//	report 0 commit=1 pos=a read=5 done    of the split's last token, or token=1.2
//	progress 0 read=5 dirty=1
//	ended 0 | ended 0 retryable connection lost
//	failed store permanent disk full       an effect that failed
//	totals                                 shows the job's counters
//	limit bytes=1000 | demand 0 waiting    the limit changes; a slot's limiter reports
//	numbers 0 read=5 read_time=3s null=1   what a slot has measured
//	silence 0 1                            slots that are not asked for their numbers any more
//	rounds 100                             so many ticks of a second; the other slots give their last numbers
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
			got := play(t, want)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; it now is (-update writes it):\n%s", file, firstDifference(want, got))
			}
		})
	}
}

// firstDifference shows the lines around the first one that differs.
func firstDifference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	show := func(lines []string) string {
		return strings.Join(lines[max(0, min(i-3, len(lines))):min(i+4, len(lines))], "\n")
	}
	return fmt.Sprintf("line %d\n--- want\n%s\n--- got\n%s", i+1, show(w), show(g))
}

// play carries out the transcript's events and returns it with the effects
// that came out.
func play(t *testing.T, transcript []byte) []byte {
	p := &player{t: t, cfg: jobmaster.Config{Epoch: 1, Limits: jobmaster.Limits{Percentage: -1}}, given: map[uint64][]byte{}}
	lines := bufio.NewScanner(bytes.NewReader(transcript))
	for p.line = 1; lines.Scan(); p.line++ {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, " "):
			continue
		case line == "" || strings.HasPrefix(line, "#"):
			fmt.Fprintln(&p.out, line)
			continue
		}
		fmt.Fprintln(&p.out, line)
		for _, e := range p.do(words(line)) {
			p.heard(e)
			fmt.Fprintf(&p.out, "    %s\n", effectText(e))
		}
	}
	return p.out.Bytes()
}

// player is a job in a transcript, and what its world remembers.
type player struct {
	t      *testing.T
	line   int
	out    bytes.Buffer
	cfg    jobmaster.Config
	master *jobmaster.Master

	// given are the states of Store effects, as they would be on disk.
	given      map[uint64][]byte
	version    uint64
	durable    []byte
	registered []connector.SplitID
	tokens     map[connector.SplitID]connector.Token
	slots      map[connector.SplitID]int

	now time.Duration
	// numbers are the slots' last, demands the numbers of their reports, and
	// leases those of their last leases.
	numbers map[int]connector.FormatState
	demands map[int]uint64
	leases  map[int]uint64
}

// heard remembers what later events answer.
func (p *player) heard(e jobmaster.Effect) {
	switch e := e.(type) {
	case jobmaster.Store:
		text, err := json.Marshal(e.State)
		if err != nil {
			p.t.Fatal(err)
		}
		p.version, p.given[e.Version] = e.Version, text
	case jobmaster.Register:
		p.registered = nil
		for _, s := range e.Splits {
			p.registered = append(p.registered, s.ID)
		}
	case jobmaster.Assign:
		p.tokens[e.Split.ID], p.slots[e.Split.ID] = e.Token, e.Slot
	case jobmaster.Grant:
		p.leases[e.Slot] = e.Lease.Seq
	}
}

// do carries out a line of the transcript.
func (p *player) do(line []string) []jobmaster.Effect {
	verb, args := line[0], p.parse(line[1:])
	switch verb {
	case "config":
		p.configure(args)
		return nil
	case "start":
		return p.begin(jobmaster.State{})
	case "crash":
		var state jobmaster.State
		if p.durable != nil {
			if err := json.Unmarshal(p.durable, &state); err != nil {
				p.t.Fatal(err)
			}
		}
		p.cfg.Epoch++
		return p.begin(state)
	case "silence":
		for _, slot := range args.ints {
			delete(p.numbers, slot)
		}
		return nil
	case "rounds":
		return p.rounds(args.ints[0])
	case "totals":
		fmt.Fprintf(&p.out, "    %s\n", countersText(p.master.Totals()))
		return nil
	}
	return p.master.Step(p.event(verb, args))
}

func (p *player) begin(state jobmaster.State) []jobmaster.Effect {
	p.given, p.registered = map[uint64][]byte{}, nil
	p.tokens, p.slots = map[connector.SplitID]connector.Token{}, map[connector.SplitID]int{}
	p.now, p.numbers = 0, map[int]connector.FormatState{}
	p.demands, p.leases = map[int]uint64{}, map[int]uint64{}
	p.master = jobmaster.New(p.cfg, state)
	return p.master.Start()
}

// rounds lets seconds pass and returns the effects of the last one.
func (p *player) rounds(n int) (effects []jobmaster.Effect) {
	for range n {
		p.now += time.Second
		for _, slot := range slices.Sorted(maps.Keys(p.numbers)) {
			p.master.Step(jobmaster.Numbers{Slot: slot, State: p.numbers[slot]})
		}
		effects = p.master.Step(jobmaster.Tick{Now: p.now})
	}
	return effects
}

// event makes the event of a line.
func (p *player) event(verb string, a *arguments) jobmaster.Event {
	switch verb {
	case "tick":
		p.now = p.duration(a.words[0])
		return jobmaster.Tick{Now: p.now}
	case "limit":
		return jobmaster.Limit{Limit: ratelimit.Amount{Bytes: a.number("bytes"), Records: a.number("records")}}
	case "demand":
		slot := a.ints[0]
		p.demands[slot]++
		return jobmaster.Demand{Now: p.now, Slot: slot, Report: ratelimit.Report{
			No: p.demands[slot], Epoch: p.cfg.Epoch, Seq: p.leases[slot], Waiting: a.has("waiting"),
		}}
	case "numbers":
		p.numbers[a.ints[0]] = a.format()
		return jobmaster.Numbers{Slot: a.ints[0], State: a.format()}
	case "slot":
		return jobmaster.SlotUp{Slot: a.ints[0]}
	case "lost":
		return jobmaster.WorkerLost{Slots: a.ints}
	case "found":
		e := connector.Enumeration{Next: connector.Cursor(a.values["next"]), Done: a.has("done")}
		for _, id := range a.ints {
			e.Splits = append(e.Splits, connector.Split{ID: connector.SplitID(id), Spec: fmt.Sprintf("spec %d", id)})
		}
		return jobmaster.SplitsFound{Enumeration: e}
	case "stored":
		version := p.version
		if len(a.ints) > 0 {
			version = uint64(a.ints[0])
		}
		if text, ok := p.given[version]; ok {
			p.durable = text
		}
		return jobmaster.Stored{Version: version}
	case "registered":
		ids := slices.Clone(p.registered)
		if len(a.ints) > 0 {
			ids = a.splits()
		}
		return jobmaster.Registered{Splits: ids}
	case "states":
		return jobmaster.TargetStates{States: p.states(a.words)}
	case "report":
		return jobmaster.Report{State: p.state(a.splits()[0], a), Format: a.format()}
	case "progress":
		id := a.splits()[0]
		return jobmaster.Progress{Split: id, Token: p.token(id, a), Counters: a.counters()}
	case "ended":
		id := a.splits()[0]
		e := jobmaster.AttemptEnded{Slot: p.slots[id], Split: id, Token: p.token(id, a)}
		if len(a.words) > 0 {
			e.Failure = &jobmaster.Failure{Class: p.class(a.words[0]), Message: strings.Join(a.words[1:], " ")}
		}
		return e
	case "finished":
		return jobmaster.Finished{}
	case "failed":
		return jobmaster.EffectFailed{Op: a.words[0], Failure: jobmaster.Failure{
			Class: p.class(a.words[1]), Message: strings.Join(a.words[2:], " "),
		}}
	case "cancel":
		return jobmaster.Cancel{}
	}
	p.t.Fatalf("line %d: unknown event %q", p.line, verb)
	return nil
}
