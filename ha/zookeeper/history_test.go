package zookeeper

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/zk"
)

// history is what contenders have done and seen, whatever process they are in: all
// have the machine's one clock.
type history struct {
	mu    sync.Mutex
	terms map[ha.Epoch]*span
	// acknowledged and refused are writes, by their jobs' names.
	acknowledged, refused map[ha.JobID]bool
	writes                int
	// wrong is what was seen to be so at once.
	wrong []string
}

// span is when a term was granted, and when its leader last found itself trusted.
type span struct{ granted, trusted time.Duration }

// fact is one thing that a contender has done or seen.
type fact struct {
	what  factKind
	epoch ha.Epoch
	at    time.Duration
	job   ha.JobID
}

type factKind string

const (
	// granted: the term has begun; revoked: the callbacks have been told of its end.
	granted factKind = "granted"
	revoked factKind = "revoked"
	// trusted: at that time the leader's lease had not ended.
	trusted factKind = "trusted"
	// wrote, refused, unknown: what has become of a write.
	wrote   factKind = "wrote"
	refused factKind = "refused"
	unknown factKind = "unknown"
)

func (f fact) String() string { return fmt.Sprintf("%s %d %d %s\n", f.what, f.epoch, f.at, f.job) }

// parseFacts reads the lines that String has made; the last may not be whole.
func parseFacts(text string) []fact {
	var facts []fact
	for line := range strings.Lines(text) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if !strings.HasSuffix(line, "\n") || len(words) != 4 {
			continue
		}
		epoch, err := strconv.ParseUint(words[1], 10, 64)
		at, err2 := strconv.ParseInt(words[2], 10, 64)
		if errors.Join(err, err2) == nil {
			facts = append(facts, fact{factKind(words[0]), ha.Epoch(epoch), time.Duration(at), ha.JobID(words[3])})
		}
	}
	return facts
}

func newHistory() *history {
	return &history{terms: map[ha.Epoch]*span{}, acknowledged: map[ha.JobID]bool{}, refused: map[ha.JobID]bool{}}
}

// add takes a fact in.
func (h *history) add(f fact) {
	h.mu.Lock()
	defer h.mu.Unlock()
	term := h.terms[f.epoch]
	if term == nil {
		term = &span{}
		h.terms[f.epoch] = term
	}
	switch f.what {
	case granted:
		if term.granted != 0 {
			h.wrong = append(h.wrong, fmt.Sprintf("epoch %d was granted twice", f.epoch))
		}
		term.granted = f.at
	case trusted:
		term.trusted = max(term.trusted, f.at)
	case wrote:
		h.writes++
		h.acknowledged[f.job] = true
	case refused:
		h.refused[f.job] = true
	}
}

// written is how many writes were acknowledged.
func (h *history) written() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.writes
}

// overlaps are terms that were trusted when a later one had begun.
func (h *history) overlaps() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := slices.Clone(h.wrong)
	for old, a := range h.terms {
		for now, b := range h.terms {
			if old < now && b.granted != 0 && a.trusted > b.granted {
				found = append(found, fmt.Sprintf("epoch %d was trusted %s after epoch %d had begun", old, a.trusted-b.granted, now))
			}
			if old < now && a.granted != 0 && b.granted != 0 && a.granted > b.granted {
				found = append(found, fmt.Sprintf("epoch %d was granted after %d", old, now))
			}
		}
	}
	return found
}

type applied struct {
	job     ha.JobID
	created int64
}

// check holds the history against what the store has applied, in its order.
func (h *history) check(t *testing.T, admin *zk.Session) {
	t.Helper()
	for _, overlap := range h.overlaps() {
		t.Error(overlap)
	}
	ctx := t.Context()
	if err := admin.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	names, _, err := admin.Children(ctx, "/running_job_registry")
	if err != nil {
		t.Fatal(err)
	}
	var order []applied
	there := map[ha.JobID]bool{}
	for _, name := range names {
		stat, exists, err := admin.Exists(ctx, "/running_job_registry/"+name)
		if err != nil || !exists {
			t.Fatalf("%s: %t, %v", name, exists, err)
		}
		order = append(order, applied{ha.JobID(name), stat.Created})
		there[ha.JobID(name)] = true
	}
	slices.SortFunc(order, func(a, b applied) int { return int(a.created - b.created) })
	last := 0
	for _, a := range order {
		text, _, _ := strings.Cut(string(a.job), "-")
		epoch, err := strconv.Atoi(text)
		if err != nil || epoch < last {
			t.Errorf("write %s was applied after one of epoch %d (%v)", a.job, last, err)
		}
		last = max(last, epoch)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for job := range h.acknowledged {
		if !there[job] {
			t.Errorf("write %s was acknowledged and is not there", job)
		}
	}
	for job := range h.refused {
		if there[job] {
			t.Errorf("write %s was refused and is there", job)
		}
	}
	if len(order) == 0 {
		t.Error("nothing was written")
	}
}

// Two terms that overlap are found, and so is an epoch that falls.
func TestHistoryFindsOverlaps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts string
		wrong int
	}{
		"one after the other":   {"granted 1 10 \ntrusted 1 20 \ngranted 2 20 \ntrusted 2 30 \n", 0},
		"two at once":           {"granted 1 10 \ntrusted 1 21 \ngranted 2 20 \n", 1},
		"an epoch that falls":   {"granted 2 10 \ngranted 1 20 \n", 1},
		"an epoch for two":      {"granted 1 10 \ngranted 1 20 \n", 1},
		"a line that is broken": {"granted 1 10 \ntrusted 1 9", 0},
	} {
		h := newHistory()
		for _, f := range parseFacts(c.facts) {
			h.add(f)
		}
		if found := h.overlaps(); len(found) != c.wrong {
			t.Errorf("%s: found %v", name, found)
		}
	}
}
