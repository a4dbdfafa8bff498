package ratelimit

import (
	"errors"
	"fmt"
)

// Amount is a number of record bytes and of records. As a limit or a floor it
// is per second, and 0 is no limit.
type Amount struct {
	Bytes   int64 `json:"bytes,omitempty"`
	Records int64 `json:"records,omitempty"`
}

// IsZero reports an amount of nothing; as a limit, none.
func (a Amount) IsZero() bool { return a == Amount{} }

// Add returns the sum.
func (a Amount) Add(b Amount) Amount {
	return Amount{Bytes: a.Bytes + b.Bytes, Records: a.Records + b.Records}
}

// Sub returns the difference.
func (a Amount) Sub(b Amount) Amount {
	return Amount{Bytes: a.Bytes - b.Bytes, Records: a.Records - b.Records}
}

// Validate returns what is wrong with the amount as a limit: an error for each of
// its two that is less than 0.
func (a Amount) Validate() error {
	var errs []error
	if a.Bytes < 0 {
		errs = append(errs, fmt.Errorf("a limit of %d bytes per second is less than 0: 0 is no limit", a.Bytes))
	}
	if a.Records < 0 {
		errs = append(errs, fmt.Errorf("a limit of %d records per second is less than 0: 0 is no limit", a.Records))
	}
	return errors.Join(errs...)
}

// String returns the amount as people read it.
func (a Amount) String() string { return fmt.Sprintf("%d B, %d records", a.Bytes, a.Records) }

// dims is the number of things that are limited.
const dims = 2

func (a Amount) dim(d int) int64 {
	if d == 0 {
		return a.Bytes
	}
	return a.Records
}

func (a *Amount) set(d int, n int64) {
	if d == 0 {
		a.Bytes = n
	} else {
		a.Records = n
	}
}

// exceeds reports whether a is more than b in something that limit limits.
func (a Amount) exceeds(b, limit Amount) bool {
	return limit.Bytes > 0 && a.Bytes > b.Bytes || limit.Records > 0 && a.Records > b.Records
}
