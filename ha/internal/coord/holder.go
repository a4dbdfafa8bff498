package coord

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/leatdata/leat/ha"
)

// Claim is what a take-over brings.
type Claim struct {
	// Grant is the claim's own uuid: used for this claim only. The lock holds it,
	// so that a reply that was lost is resolved by reading.
	Grant ha.GrantID
	// Name is what the process calls itself.
	Name string
	// Since is now, by the wall clock.
	Since time.Time
	// Next chooses the new number, given the store's, and makes it known to be
	// used (by a mark) before it returns. It may do I/O. Its error is the
	// take-over's, with nothing changed.
	Next func(ctx context.Context, stored ha.Epoch) (ha.Epoch, error)
}

// Holder is what Look sees.
type Holder struct {
	// Held says that the lock exists.
	Held bool
	// Mine says that it is owned by the very session that looked.
	Mine bool
	// Term is of the lock, if it is held: as TakeOver would have returned it. Its
	// Epoch is the store's number, held or not.
	Term ha.Term
	// Last is what the last take-over wrote; zero: there was none.
	Last EpochRecord
}

// EpochRecord is the value of the key epoch, and the same in all stores.
type EpochRecord struct {
	Number ha.Epoch   `json:"epoch"`
	Grant  ha.GrantID `json:"grant,omitempty"`
	Name   string     `json:"name,omitempty"`
	Since  time.Time  `json:"since,omitzero"`
}

// Encode returns the record's text.
func (r EpochRecord) Encode() []byte {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // a year beyond 9999
	}
	return text
}

// DecodeEpoch reads what Encode wrote.
func DecodeEpoch(text []byte) (EpochRecord, error) {
	var r EpochRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return EpochRecord{}, fmt.Errorf("epoch record %.60q: %w", text, ha.ErrCorrupt)
	}
	return r, nil
}

// Record makes the record that a take-over with this number writes.
func (c Claim) Record(number ha.Epoch) EpochRecord {
	return EpochRecord{Number: number, Grant: c.Grant, Name: c.Name, Since: c.Since}
}
