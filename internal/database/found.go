package database

import (
	"slices"
	"sync"

	"github.com/leatdata/leat/connector"
)

// Found is what was found out about a side, and is found out once.
type Found[T any] struct {
	mu    sync.Mutex
	value *T
}

// Get returns it, by find when it is not known yet. Two who ask at once may
// both find it out.
func (f *Found[T]) Get(find func() (*T, error)) (*T, error) {
	f.mu.Lock()
	v := f.value
	f.mu.Unlock()
	if v != nil {
		return v, nil
	}
	v, err := find()
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.value = v
	f.mu.Unlock()
	return v, nil
}

// Chosen leaves out the columns that a job does not need, which names those in
// only, nil for all; one is left, for there are rows without columns nowhere.
func Chosen[C any](columns []C, only []string, name func(*C) string) []C {
	if only == nil {
		return columns
	}
	var chosen []C
	for i := range columns {
		if slices.Contains(only, name(&columns[i])) {
			chosen = append(chosen, columns[i])
		}
	}
	if len(chosen) == 0 {
		return columns[:min(1, len(columns))]
	}
	return chosen
}

// CheckWhere has the server parse each form of the job's condition. What it
// refuses for good is the user's fault.
func CheckWhere(forms []string, parse func(form string) error, classify func(error) connector.Class) error {
	for _, form := range forms {
		err := parse(form)
		if err != nil && classify(err) == connector.Permanent {
			return connector.Errorf(connector.Usage, "where: %w", err)
		}
		if err != nil {
			return Wrap("where", err, classify)
		}
	}
	return nil
}
