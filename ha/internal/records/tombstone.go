package records

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// A write whose reply was lost may be carried out as long as its term is the present
// one. It is conditional on the record's version, or on there being none, and both
// come back when the record is removed. So under a term in which such a write is
// known, a record is not removed: it becomes a tombstone, which counts as no record,
// and which the next leader removes.
const tombstone = "removed under epoch "

func newTombstone(term ha.Term) []byte { return fmt.Appendf(nil, "%s%d", tombstone, term.Epoch) }

func isTombstone(value []byte) bool { return bytes.HasPrefix(value, []byte(tombstone)) }

// tombstoneEpoch is the epoch under which the record was removed.
func tombstoneEpoch(value []byte) ha.Epoch {
	n, err := strconv.ParseUint(string(bytes.TrimPrefix(value, []byte(tombstone))), 10, 64)
	if err != nil {
		return 0
	}
	return ha.Epoch(n)
}

// doubts are the records that a write whose reply was lost may yet change.
type doubts struct {
	mu   sync.Mutex
	term ha.Term
	keys map[coord.Key]bool
}

// add takes in that a write under a term is ambiguous. Those of older terms are
// fenced for good.
func (d *doubts) add(term ha.Term, key coord.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if term.Newer(d.term) {
		d.term, d.keys = term, map[coord.Key]bool{}
	}
	if term == d.term {
		d.keys[key] = true
	}
}

func (d *doubts) has(term ha.Term, key coord.Key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return term == d.term && d.keys[key]
}
