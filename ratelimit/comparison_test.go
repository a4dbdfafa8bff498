package ratelimit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/ratelimit"
)

// figures are what a policy made of a job.
type figures struct {
	firstSecond, firstTen float64 // of the limit
	afterwards            float64 // of the limit, when one reader of four is left
}

// compare runs a job of four readers at 20 MiB/s, each of which could read 60
// MiB/s; three end after 20 s, the fourth after 40.
func compare(t *testing.T, policy ratelimit.Policy) (f figures) {
	const limit, size = 20 << 20, 128
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, ratelimit.Config{Parallelism: 4, Limit: ratelimit.Amount{Bytes: limit}, Policy: policy})
		s.speed = 60 << 20
		for i := range 4 {
			end := 20 * time.Second
			if i == 3 {
				end = 40 * time.Second
			}
			s.read(i, size, 0, end)
		}
		s.end(40 * time.Second)
		part := func(from, to time.Duration) float64 {
			sum := int64(0)
			for _, p := range s.passed {
				if p.at > from && p.at <= to {
					sum += p.bytes
				}
			}
			return float64(sum) / limit / (to - from).Seconds()
		}
		f = figures{part(0, time.Second), part(0, 10*time.Second), part(21*time.Second, 31*time.Second)}
	})
	return f
}

// TestComparison writes the table of docs/rate.md, and holds what it is to show.
func TestComparison(t *testing.T) {
	t.Parallel()
	fair, model := compare(t, ratelimit.Fair{}), compare(t, ratelimit.Model{})
	if fair.firstSecond > 1 || fair.firstTen > 1 || fair.firstTen < 0.98 || fair.afterwards < 0.98 || fair.afterwards > 1 {
		t.Errorf("ours: %+v", fair)
	}
	if model.firstSecond < 1.1 || model.afterwards > 0.6 {
		t.Errorf("the model's policy has not the weak points that it is compared for: %+v", model)
	}
	var table bytes.Buffer
	fmt.Fprintf(&table, "| of the limit | first second | first 10 s | 10 s with one reader of four left |\n| --- | --- | --- | --- |\n")
	for _, row := range []struct {
		name string
		f    figures
	}{{"this ledger", fair}, {"the model's policy", model}} {
		fmt.Fprintf(&table, "| %s | %.2f | %.2f | %.2f |\n", row.name, row.f.firstSecond, row.f.firstTen, row.f.afterwards)
	}
	checkTable(t, "Comparison", table)
}

// checkTable compares a table of docs/rate.md, or writes it with -update; run names
// the test that makes it.
func checkTable(t *testing.T, run string, table bytes.Buffer) {
	t.Helper()
	name := filepath.Join(testenv.ModuleRoot(t), "docs", "rate.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- go test ./ratelimit -run "+run+" -update -->\n", "<!-- end -->"
	head, rest, ok := bytes.Cut(text, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", name)
	}
	want := append(append(append(append([]byte{}, head...), begin...), table.Bytes()...), append([]byte(end), tail...)...)
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, want) {
		t.Errorf("docs/rate.md does not say what is so: run go test ./ratelimit -run %s -update; the table is\n%s", run, table.String())
	}
}
