package ratelimit_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

var update = flag.Bool("update", false, "rewrite the transcripts' leases in testdata")

// TestTranscripts plays each of testdata/*.txt: a line at the margin is an event,
// the indented lines after it are the leases that it gives. A line that begins
// with # is a remark. -update writes the leases that came out.
//
//	ledger bytes=1000 records=10 parallelism=2 epoch=1
//	adopt 0 1 | join 0 | leave 0
//	tick 100ms                 to that time; what comes between is ticked too
//	report 0 waiting idle used=100@5ms back=100@40ms ask=5000 owed=10 epoch=0 no=1
//	                           of the worker's last lease, or seq=1; heard now
//	waits 0 | rests 0 | cut 0  reports so from now on, four times in a window; or not
//	limit bytes=500
//
// Leases that say nothing new are not shown.
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
				t.Errorf("%s differs; it now is (-update writes it):\n%s", file, got)
			}
		})
	}
}

func play(t *testing.T, transcript []byte) []byte {
	p := &player{t: t, no: map[int]uint64{}, seq: map[int]uint64{}, asks: map[int]uint64{}, waits: map[int]bool{}, rests: map[int]bool{}, shown: map[int]string{}}
	lines := bufio.NewScanner(bytes.NewReader(transcript))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, " ") {
			continue
		}
		fmt.Fprintln(&p.out, line)
		if line != "" && !strings.HasPrefix(line, "#") {
			p.do(strings.Fields(line))
		}
	}
	return p.out.Bytes()
}

type player struct {
	t      *testing.T
	out    bytes.Buffer
	ledger *ratelimit.Ledger
	epoch  uint64
	now    time.Duration
	no     map[int]uint64
	seq    map[int]uint64
	asks   map[int]uint64
	// waits and rests are the workers that report by themselves; shown is what
	// was shown of each last.
	waits, rests map[int]bool
	shown        map[int]string
}

// arguments are the numbers and the key=value pairs of a line.
type arguments struct {
	t      *testing.T
	ints   []int
	values map[string]string
}

func (a *arguments) number(key string) int64 {
	n, _ := strconv.ParseInt(a.values[key], 10, 64)
	return n
}

// timed reads 100@5ms.
func (a *arguments) timed(key string) (int64, time.Duration) {
	n, at, _ := strings.Cut(a.values[key], "@")
	bytes, err := strconv.ParseInt(n, 10, 64)
	if err != nil {
		a.t.Fatal(err)
	}
	d, err := time.ParseDuration(at)
	if err != nil {
		a.t.Fatal(err)
	}
	return bytes, d
}

func (p *player) do(line []string) {
	a := &arguments{t: p.t, values: map[string]string{}}
	for _, w := range line[1:] {
		k, v, _ := strings.Cut(w, "=")
		if n, err := strconv.Atoi(w); err == nil {
			a.ints = append(a.ints, n)
		}
		a.values[k] = v
	}
	amount := ratelimit.Amount{Bytes: a.number("bytes"), Records: a.number("records")}
	switch line[0] {
	case "ledger":
		p.epoch, p.now = uint64(a.number("epoch")), 0
		p.ledger = ratelimit.NewLedger(ratelimit.Config{Limit: amount, Parallelism: int(a.number("parallelism")), Epoch: p.epoch})
	case "adopt":
		p.ledger.Adopt(a.ints...)
	case "join":
		p.ledger.Join(a.ints[0])
	case "leave":
		p.ledger.Leave(a.ints[0])
	case "limit":
		if err := p.ledger.Change(amount); err != nil {
			p.t.Fatal(err)
		}
	case "waits":
		p.waits[a.ints[0]] = true
		delete(p.rests, a.ints[0])
	case "rests":
		p.rests[a.ints[0]] = true
		delete(p.waits, a.ints[0])
	case "cut":
		delete(p.waits, a.ints[0])
		delete(p.rests, a.ints[0])
	case "report":
		p.report(a)
	case "tick":
		to, err := time.ParseDuration(line[1])
		if err != nil {
			p.t.Fatal(err)
		}
		for p.now < to {
			if p.now%(25*time.Millisecond) == 0 {
				for id := range 4 {
					if p.waits[id] || p.rests[id] {
						p.no[id]++
						p.ledger.Report(p.now, id, ratelimit.Report{No: p.no[id], Epoch: p.epoch, Seq: p.seq[id], Waiting: p.waits[id], Idle: p.rests[id]})
					}
				}
			}
			p.now = min(to, p.now+5*time.Millisecond)
			p.ledger.Tick(p.now)
			p.heard(p.ledger.Grants())
		}
	default:
		p.t.Fatalf("unknown event %q", line[0])
	}
}

func (p *player) report(a *arguments) {
	id := a.ints[0]
	has := func(k string) bool { _, ok := a.values[k]; return ok }
	r := ratelimit.Report{Epoch: p.epoch, Seq: p.seq[id], Waiting: has("waiting"), Idle: has("idle")}
	p.no[id]++
	r.No = p.no[id]
	if has("no") {
		r.No = uint64(a.number("no"))
	}
	if has("epoch") {
		r.Epoch = uint64(a.number("epoch"))
	}
	if has("seq") {
		r.Seq = uint64(a.number("seq"))
	}
	if has("used") {
		n, age := a.timed("used")
		r.Used = []ratelimit.Use{{Seq: r.Seq, Age: age, Amount: ratelimit.Amount{Bytes: n}}}
	}
	if has("back") {
		n, opens := a.timed("back")
		r.Returned = []ratelimit.Back{{Seq: r.Seq, Opens: opens, Amount: ratelimit.Amount{Bytes: n}}}
	}
	if has("ask") {
		if p.asks[id]++; has("askno") {
			p.asks[id] = uint64(a.number("askno"))
		}
		r.Ask, r.AskNo = ratelimit.Amount{Bytes: a.number("ask"), Records: 1}, p.asks[id]
	}
	r.Owed.Bytes = a.number("owed")
	p.ledger.Report(p.now, id, r)
}

// heard prints the leases that say something new.
func (p *player) heard(grants []ratelimit.Grant) {
	for _, g := range grants {
		p.seq[g.Worker] = g.Lease.Seq
		var sum ratelimit.Amount
		steps := 0
		for _, s := range g.Lease.Steps {
			sum = sum.Add(s)
			if !s.IsZero() {
				steps++
			}
		}
		text := fmt.Sprintf("floor %d", g.Lease.Floor.Bytes)
		switch {
		case g.Lease.Limit.IsZero():
			text += ", no limit"
		case g.Lease.Hold:
			text += ", hold"
		case steps > 0:
			text += fmt.Sprintf(", opens %s in %d steps", sum, steps)
		}
		if g.Lease.Whole > 0 {
			text += fmt.Sprintf(", ask %d granted", g.Lease.Whole)
		}
		if steps > 0 || p.shown[g.Worker] != text {
			fmt.Fprintf(&p.out, "    %s: lease %d for %d, %s\n", p.now, g.Lease.Seq, g.Worker, text)
		}
		p.shown[g.Worker] = text
	}
}
