package records

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// block is how many numbers one mark allows.
const block = 100

// counter gives numbers, each once. The store holds the last one given. A mark
// beside the blobs is higher than every number given so far, and the first
// number under a term is above it: so a store that was deleted or restored
// brings no number back.
type counter struct {
	b   *Base
	key coord.Key

	// turn lets one call run at a time, whose the following are.
	turn   turn
	term   ha.Term // of the two numbers
	above  uint64  // no number at or below it is given
	marked uint64  // no number above it is given without a new mark
}

func newCounter(b *Base, job ha.JobID) *counter {
	return &counter{b: b, turn: newTurn(), key: coord.Key{Folder: coord.CheckpointCounter, Name: coord.Escape(string(job))}}
}

func (c *counter) next(ctx context.Context, term ha.Term) (uint64, error) {
	if err := c.turn.take(ctx); err != nil {
		return 0, err
	}
	defer c.turn.done()
	if c.term != term {
		marked, err := c.highest(ctx)
		if err != nil {
			return 0, err
		}
		c.term, c.above, c.marked = term, marked, marked
	}
	var given uint64
	_, err := c.b.change(ctx, term, c.key, func(old []byte) ([]byte, error) {
		last := uint64(0)
		if old != nil {
			var err error
			if last, err = strconv.ParseUint(string(old), 10, 64); err != nil {
				return nil, fmt.Errorf("counter %s holds %.60q: %w", c.key, old, ha.ErrCorrupt)
			}
		}
		given = max(last, c.above) + 1
		if given > c.marked {
			if err := c.mark(ctx, given+block); err != nil {
				return nil, err
			}
		}
		return strconv.AppendUint(nil, given, 10), nil
	})
	if err != nil {
		return 0, err
	}
	return given, nil
}

func (c *counter) highest(ctx context.Context) (uint64, error) {
	marks, err := c.b.blobs.List(ctx, c.key.String())
	if err != nil {
		return 0, fmt.Errorf("list marks of %s: %w", c.key, err)
	}
	highest := uint64(0)
	for _, m := range marks {
		n, err := strconv.ParseUint(m.Key[strings.LastIndexByte(m.Key, '/')+1:], 10, 64)
		if err == nil {
			highest = max(highest, n)
		}
	}
	return highest, nil
}

// mark makes it durable that numbers up to n may be given, and removes older
// marks.
func (c *counter) mark(ctx context.Context, n uint64) error {
	if err := c.b.blobs.Put(ctx, c.markKey(n), nil); err != nil {
		return fmt.Errorf("mark numbers of %s: %w", c.key, err)
	}
	old := c.marked
	c.marked = n
	if old > 0 {
		c.b.background("remove mark of "+c.key.String(), func(ctx context.Context) error {
			return c.b.blobs.Delete(ctx, c.markKey(old))
		})
	}
	return nil
}

func (c *counter) markKey(n uint64) string { return fmt.Sprintf("%s/%020d", c.key, n) }

// discard forgets the counter. The job is over: nobody asks for its numbers.
func (c *counter) discard(ctx context.Context, term ha.Term) error {
	if err := c.turn.take(ctx); err != nil {
		return err
	}
	defer c.turn.done()
	if _, err := c.b.change(ctx, term, c.key, func([]byte) ([]byte, error) { return nil, nil }); err != nil {
		return err
	}
	marks, err := c.b.blobs.List(ctx, c.key.String())
	for _, m := range marks {
		if err == nil {
			err = c.b.blobs.Delete(ctx, m.Key)
		}
	}
	c.term, c.above, c.marked = ha.Term{}, 0, 0
	return err
}
