package jobmaster_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/ratelimit"
)

// arguments are the words of a line after its verb, sorted by form.
type arguments struct {
	ints   []int
	words  []string
	values map[string]string
}

func words(line string) []string { return strings.Fields(line) }

// parse sorts words into numbers, key=value and the rest. Numbers after the
// first word of the rest belong to a message.
func (p *player) parse(list []string) *arguments {
	a := &arguments{values: map[string]string{}}
	for _, w := range list {
		n, err := strconv.Atoi(w)
		k, v, isPair := strings.Cut(w, "=")
		switch {
		case err == nil && len(a.words) == 0:
			a.ints = append(a.ints, n)
		case isPair && !strings.Contains(k, ":"):
			a.values[k] = v
		default:
			a.words = append(a.words, w)
		}
	}
	return a
}

func (a *arguments) has(word string) bool { return slices.Contains(a.words, word) }

func (a *arguments) splits() []connector.SplitID {
	ids := make([]connector.SplitID, len(a.ints))
	for i, n := range a.ints {
		ids[i] = connector.SplitID(n)
	}
	return ids
}

func (a *arguments) number(key string) int64 {
	n, _ := strconv.ParseInt(a.values[key], 10, 64)
	return n
}

func (a *arguments) counters() connector.Counters {
	return connector.Counters{
		Read: a.number("read"), Written: a.number("written"), Filtered: a.number("filtered"),
		Dirty: a.number("dirty"), Merged: a.number("merged"), Refused: a.number("refused"),
	}
}

// format reads what was measured.
func (a *arguments) format() connector.FormatState {
	took, _ := time.ParseDuration(a.values["read_time"])
	rate, _ := strconv.ParseFloat(a.values["rate"], 64)
	return connector.FormatState{
		Read: a.number("read"), Written: a.number("written"), ReadTime: took, Rates: connector.Rates{Read: rate},
		Errors: connector.CauseCounts{Null: a.number("null"), Conversion: a.number("conversion")},
	}
}

func (p *player) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatalf("line %d: %v", p.line, err)
	}
	return d
}

func (p *player) class(name string) connector.Class {
	for c := connector.Permanent; c <= connector.Fatal; c++ {
		if c.String() == name {
			return c
		}
	}
	p.t.Fatalf("line %d: unknown class %q", p.line, name)
	return 0
}

// token is the one that the line names, or the split's last.
func (p *player) token(id connector.SplitID, a *arguments) connector.Token {
	epoch, n, ok := strings.Cut(a.values["token"], ".")
	if !ok {
		return p.tokens[id]
	}
	e, _ := strconv.ParseUint(epoch, 10, 40)
	c, _ := strconv.ParseUint(n, 10, 24)
	return connector.NewToken(e, uint32(c))
}

func (p *player) state(id connector.SplitID, a *arguments) connector.SplitState {
	return connector.SplitState{
		Split: id, Token: p.token(id, a), Position: connector.Position(a.values["pos"]),
		CommitNo: a.number("commit"), Done: a.has("done"), Counters: a.counters(),
	}
}

// states reads 0:done,read=5,written=5.
func (p *player) states(list []string) []connector.SplitState {
	var states []connector.SplitState
	for _, w := range list {
		id, rest, _ := strings.Cut(w, ":")
		n, err := strconv.Atoi(id)
		if err != nil {
			p.t.Fatalf("line %d: %v", p.line, err)
		}
		states = append(states, p.state(connector.SplitID(n), p.parse(strings.Split(rest, ","))))
	}
	return states
}

func (p *player) configure(a *arguments) {
	for k, v := range a.values {
		switch k {
		case "guarantee":
			p.cfg.Guarantee = map[string]connector.Guarantee{
				"position": connector.WithPosition, "staged": connector.Staged, "at-least-once": connector.AtLeastOnce,
			}[v]
		case "records":
			p.cfg.Limits.Records = a.number(k)
		case "percentage":
			p.cfg.Limits.Percentage, _ = strconv.ParseFloat(v, 64)
		case "attempts":
			p.cfg.Restart.Attempts = int(a.number(k))
		case "parallelism":
			p.cfg.Parallelism = int(a.number(k))
		case "bytes":
			p.cfg.Limit.Bytes = a.number(k)
		case "heartbeat":
			p.cfg.HeartbeatInterval = p.duration(v)
		case "adopted":
			p.cfg.Adopted = []int{0, 1}
		case "allow_refused":
			p.cfg.AllowRefused = v == "true"
		default:
			p.t.Fatalf("line %d: unknown setting %q", p.line, k)
		}
	}
}

func effectText(e jobmaster.Effect) string {
	switch e := e.(type) {
	case jobmaster.Enumerate:
		return fmt.Sprintf("enumerate after %q, first is %d", e.Cursor, e.First)
	case jobmaster.Store:
		return fmt.Sprintf("store %d: %s", e.Version, stateText(e.State))
	case jobmaster.Register:
		return "register" + splitList(e.Splits)
	case jobmaster.ReadStates:
		return "read states"
	case jobmaster.Assign:
		return fmt.Sprintf("assign %d to slot %d, token %s, from %s", e.Split.ID, e.Slot, e.Token, splitStateText(e.State))
	case jobmaster.Stop:
		return fmt.Sprintf("stop %d on slot %d, token %s", e.Split, e.Slot, e.Token)
	case jobmaster.Finish:
		var all []string
		for _, s := range e.States {
			all = append(all, splitStateText(s))
		}
		return strings.TrimSpace("finish " + strings.Join(all, "; "))
	case jobmaster.Grant:
		return fmt.Sprintf("grant slot %d: %s", e.Slot, leaseText(e.Lease))
	case jobmaster.Restore:
		return fmt.Sprintf("restore slot %d: %s", e.Slot, formatText(e.State))
	case jobmaster.Global:
		return fmt.Sprintf("round %d: %s", e.Round, formatText(e.Sum))
	case jobmaster.End:
		text := fmt.Sprintf("end %s, %s", e.Outcome, countersText(e.Counters))
		if e.Failure != nil {
			text += fmt.Sprintf(": %s: %s", e.Failure.Class, e.Failure.Message)
		}
		return text
	}
	return fmt.Sprintf("%T?", e)
}

func leaseText(l ratelimit.Lease) string {
	var sum ratelimit.Amount
	for _, a := range l.Steps {
		sum = sum.Add(a)
	}
	switch {
	case l.Limit.IsZero():
		return "no limit"
	case l.Hold:
		return "hold"
	}
	return fmt.Sprintf("%d B of %d B/s, floor %d B/s", sum.Bytes, l.Limit.Bytes, l.Floor.Bytes)
}

// formatText shows what is not zero of what was measured.
func formatText(f connector.FormatState) string {
	text := fmt.Sprintf("read %d in %s, written %d", f.Read, f.ReadTime, f.Written)
	if f.Errors.Sum() > 0 {
		text += fmt.Sprintf(", null %d, conversion %d, other %d", f.Errors.Null, f.Errors.Conversion, f.Errors.Other)
	}
	if f.Rates.Read > 0 {
		text += fmt.Sprintf(", %g/s", f.Rates.Read)
	}
	return text
}

func splitList(splits []connector.Split) string {
	var b strings.Builder
	for _, s := range splits {
		fmt.Fprintf(&b, " %d", s.ID)
	}
	return b.String()
}

func stateText(s jobmaster.State) string {
	var all []string
	for _, st := range s.States {
		all = append(all, splitStateText(st))
	}
	text := fmt.Sprintf("cursor %q", s.Cursor)
	if s.Enumerated {
		text = "all found"
	}
	if len(all) > 0 {
		text += "; " + strings.Join(all, "; ")
	}
	if s.Finishing {
		text += "; finishing"
	}
	if s.Outcome != jobmaster.Unfinished {
		text += "; outcome " + string(s.Outcome)
	}
	return text
}

// splitStateText shows a split's id and what is not zero of its state.
func splitStateText(s connector.SplitState) string {
	text := strconv.Itoa(int(s.Split))
	if s.Token != 0 {
		text += " token " + s.Token.String()
	}
	if s.CommitNo != 0 {
		text += fmt.Sprintf(" commit %d", s.CommitNo)
	}
	if s.Position != "" {
		text += fmt.Sprintf(" at %q", s.Position)
	}
	if s.Done {
		text += " done"
	}
	if s.Counters != (connector.Counters{}) {
		text += " (" + countersText(s.Counters) + ")"
	}
	return text
}

func countersText(c connector.Counters) string {
	text := []string{fmt.Sprintf("read %d, written %d", c.Read, c.Written)}
	for _, part := range []struct {
		name string
		n    int64
	}{{"filtered", c.Filtered}, {"dirty", c.Dirty}, {"merged", c.Merged}, {"refused", c.Refused}} {
		if part.n != 0 {
			text = append(text, fmt.Sprintf("%s %d", part.name, part.n))
		}
	}
	return strings.Join(text, ", ")
}
