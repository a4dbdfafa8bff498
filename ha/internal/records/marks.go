package records

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/ha"
)

// keptMarks is how many marks of epochs stay: more than one, so that one that a
// careless hand removes is no harm.
const keptMarks = 16

// Marks implements election.Marks: empty blobs epoch/NUMBER.
type Marks struct{ blobs ha.Blobs }

// NewMarks returns the marks of used epochs in a storage.
func NewMarks(blobs ha.Blobs) Marks { return Marks{blobs: blobs} }

// Highest implements election.Marks.
func (m Marks) Highest(ctx context.Context) (ha.Epoch, error) {
	numbers, err := m.list(ctx)
	highest := ha.Epoch(0)
	for _, n := range numbers {
		highest = max(highest, n)
	}
	return highest, err
}

// Use implements election.Marks.
func (m Marks) Use(ctx context.Context, epoch ha.Epoch) error {
	if err := m.blobs.Put(ctx, key(epoch), nil); err != nil {
		return fmt.Errorf("mark epoch %d as used: %w", epoch, err)
	}
	return nil
}

// Prune removes marks that lower ones than the highest few are.
func (m Marks) Prune(ctx context.Context, below ha.Epoch) error {
	numbers, err := m.list(ctx)
	for _, n := range numbers {
		if err == nil && n+keptMarks < below {
			err = m.blobs.Delete(ctx, key(n))
		}
	}
	return err
}

func key(epoch ha.Epoch) string { return fmt.Sprintf("epoch/%d", epoch) }

func (m Marks) list(ctx context.Context) ([]ha.Epoch, error) {
	blobs, err := m.blobs.List(ctx, "epoch")
	if err != nil {
		return nil, fmt.Errorf("list marks of used epochs: %w", err)
	}
	var numbers []ha.Epoch
	for _, b := range blobs {
		if n, err := strconv.ParseUint(strings.TrimPrefix(b.Key, "epoch/"), 10, 64); err == nil {
			numbers = append(numbers, ha.Epoch(n))
		}
	}
	return numbers, nil
}
