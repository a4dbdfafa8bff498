package suite

import (
	"context"
	"fmt"
	"io"

	"github.com/leatdata/leat/bench/process"
)

// Run lets the contenders of a case run in turn: A, B, C, A, B, C, … as many
// rounds as told. Each run is told on progress. A run that fails, or leaves
// something else in the target than the first one did, ends the case. A peer that
// does another copy than the case's is held to its own first run.
func (e *Env) Run(ctx context.Context, c Case, rounds int, progress io.Writer) (Result, error) {
	r := Result{Case: c, Rounds: make([][]process.Usage, len(c.Contenders))}
	firsts := map[*otherCopy]Fingerprint{}
	for round := range rounds {
		for i, contender := range c.Contenders {
			label := fmt.Sprintf("%s: %s, streams %d", c.Name, contender.Name, contender.Streams)
			u, got, err := c.once(ctx, contender)
			if err != nil {
				return r, fmt.Errorf("%s: %w", label, err)
			}
			want, ok := firsts[contender.other]
			if !ok {
				want = got
				firsts[contender.other] = got
			}
			want.Rows = c.RowsOf(contender)
			if got != want {
				return r, fmt.Errorf("%s: the target holds %d rows (hash %s), want %d rows (hash %s)",
					label, got.Rows, got.Hash, want.Rows, want.Hash)
			}
			r.Rounds[i] = append(r.Rounds[i], u)
			fmt.Fprintf(progress, "%s, round %d: %.2f s, cpu %.2f + %.2f s, %d MB\n", label, round+1,
				u.Wall.Seconds(), u.Client.Seconds(), u.Server.Seconds(), u.MaxRSS/1e6)
		}
	}
	return r, nil
}

// once is one run, from the empty target to its check.
func (c Case) once(ctx context.Context, contender Contender) (process.Usage, Fingerprint, error) {
	var u process.Usage
	if err := c.reset(ctx); err != nil {
		return u, Fingerprint{}, fmt.Errorf("empty the target: %w", err)
	}
	commands, err := contender.commands()
	if err != nil {
		return u, Fingerprint{}, err
	}
	if u, err = process.Measure(ctx, c.servers, commands...); err != nil {
		return u, Fingerprint{}, err
	}
	fingerprint := c.fingerprint
	if contender.other != nil {
		fingerprint = contender.other.fingerprint
	}
	got, err := fingerprint(ctx)
	if err != nil {
		return u, got, fmt.Errorf("check the target: %w", err)
	}
	return u, got, nil
}
