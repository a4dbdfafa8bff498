package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// maxResult bounds a result, which stands in the store itself.
const maxResult = 256 << 10

// jobs implements ha.Jobs.
type jobs struct{ b *Base }

var _ ha.Jobs = jobs{}

// Jobs returns the registry and the results.
func (b *Base) Jobs() ha.Jobs { return jobs{b: b} }

// entry is what the store holds of a result.
type entry struct {
	Data  []byte `json:"data"`
	Clean bool   `json:"clean"`
}

func (e entry) encode() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // bytes and a bool
	}
	return text
}

func decodeEntry(key coord.Key, value []byte) (entry, error) {
	var e entry
	if err := json.Unmarshal(value, &e); err != nil {
		return entry{}, fmt.Errorf("result %s holds %.60q: %w", key, value, ha.ErrCorrupt)
	}
	return e, nil
}

func resultKey(job ha.JobID) coord.Key {
	return coord.Key{Folder: coord.Results, Name: coord.Escape(string(job))}
}

func runningKey(job ha.JobID) coord.Key {
	return coord.Key{Folder: coord.RunningRegistry, Name: coord.Escape(string(job))}
}

// State implements ha.Jobs.
func (j jobs) State(ctx context.Context, job ha.JobID) (ha.JobState, error) {
	// Running is read first: Finish removes it as it makes the result.
	_, running := j.b.get(ctx, runningKey(job))
	_, result := j.b.get(ctx, resultKey(job))
	switch {
	case result == nil:
		return ha.JobDone, nil
	case !errors.Is(result, ha.ErrNotFound):
		return 0, fmt.Errorf("state of job %s: %w", job, result)
	case running == nil:
		return ha.JobRunning, nil
	case !errors.Is(running, ha.ErrNotFound):
		return 0, fmt.Errorf("state of job %s: %w", job, running)
	}
	return ha.JobPending, nil
}

// SetRunning implements ha.Jobs.
func (j jobs) SetRunning(ctx context.Context, term ha.Term, job ha.JobID) error {
	_, err := j.b.get(ctx, resultKey(job))
	if err == nil {
		return fmt.Errorf("run job %s: it has a result: %w", job, ha.ErrConflict)
	}
	if errors.Is(err, ha.ErrNotFound) {
		value := strconv.AppendUint(nil, uint64(term.Epoch), 10)
		_, err = j.b.change(ctx, term, runningKey(job), func(old []byte) ([]byte, error) {
			if bytes.Equal(old, value) {
				return nil, errUnchanged
			}
			return value, nil
		})
	}
	if err != nil {
		return fmt.Errorf("run job %s: %w", job, err)
	}
	return nil
}

// Finish implements ha.Jobs.
func (j jobs) Finish(ctx context.Context, term ha.Term, job ha.JobID, data []byte) error {
	if len(data) > maxResult {
		return fmt.Errorf("finish job %s: the result has %d bytes, at most %d: %w", job, len(data), maxResult, ha.ErrConfig)
	}
	if err := j.finish(ctx, term, job, data); err != nil {
		return fmt.Errorf("finish job %s: %w", job, err)
	}
	return nil
}

func (j jobs) finish(ctx context.Context, term ha.Term, job ha.JobID, data []byte) error {
	key := resultKey(job)
	written := false
	if _, err := j.b.change(ctx, term, key, func(old []byte) ([]byte, error) {
		if written = old == nil; written {
			return entry{Data: data}.encode(), nil
		}
		if err := sameResult(key, old, data); err != nil {
			return nil, err
		}
		return nil, errUnchanged
	}); err != nil {
		return err
	}
	if err := j.b.secure(ctx, term, copyOf(key, term), data, written); err != nil {
		return err
	}
	if !written {
		if err := j.b.forgetCopies(ctx, key, term.Epoch-1); err != nil {
			return err
		}
	}
	// The result alone decides; this only tidies up.
	_, err := j.b.change(ctx, term, runningKey(job), func([]byte) ([]byte, error) { return nil, nil })
	if err != nil {
		j.b.logger.Warn("running entry of a finished job is left", "job", string(job), "error", err)
	}
	return nil
}

func sameResult(key coord.Key, stored, data []byte) error {
	e, err := decodeEntry(key, stored)
	if err != nil {
		return err
	}
	if !bytes.Equal(e.Data, data) {
		return fmt.Errorf("it has another result: %w", ha.ErrExists)
	}
	return nil
}

// SetClean implements ha.Jobs.
func (j jobs) SetClean(ctx context.Context, term ha.Term, job ha.JobID) error {
	key := resultKey(job)
	_, err := j.b.change(ctx, term, key, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, ha.ErrNotFound
		}
		e, err := decodeEntry(key, old)
		if err == nil && e.Clean {
			err = errUnchanged
		}
		e.Clean = true
		return e.encode(), err
	})
	if err != nil {
		return fmt.Errorf("result of job %s: %w", job, err)
	}
	return nil
}

// Result implements ha.Jobs.
func (j jobs) Result(ctx context.Context, job ha.JobID) (ha.Result, error) {
	record, err := j.b.get(ctx, resultKey(job))
	if err != nil {
		return ha.Result{}, fmt.Errorf("result of job %s: %w", job, err)
	}
	e, err := decodeEntry(record.Key, record.Value)
	if err != nil {
		return ha.Result{}, err
	}
	return ha.Result{Job: job, Data: e.Data, Clean: e.Clean}, nil
}

// Results implements ha.Jobs.
func (j jobs) Results(ctx context.Context) ([]ha.Result, error) {
	records, err := j.b.list(ctx, coord.Results)
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	var results []ha.Result
	var errs []error
	for _, r := range records {
		name, err := coord.Unescape(r.Key.Name)
		e, err2 := decodeEntry(r.Key, r.Value)
		if err := errors.Join(err, err2); err != nil {
			errs = append(errs, err)
			continue
		}
		results = append(results, ha.Result{Job: ha.JobID(name), Data: e.Data, Clean: e.Clean})
	}
	return results, errors.Join(errs...)
}

// Forget implements ha.Jobs.
func (j jobs) Forget(ctx context.Context, term ha.Term, job ha.JobID) error {
	key := resultKey(job)
	_, err := j.b.change(ctx, term, key, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, nil
		}
		e, err := decodeEntry(key, old)
		if err == nil && !e.Clean {
			err = fmt.Errorf("the job is not cleaned up: %w", ha.ErrConflict)
		}
		return nil, err
	})
	if err == nil {
		_, err = j.b.change(ctx, term, runningKey(job), func([]byte) ([]byte, error) { return nil, nil })
	}
	if err == nil {
		err = j.b.forgetCopies(ctx, key, term.Epoch)
	}
	if err != nil {
		return fmt.Errorf("forget job %s: %w", job, err)
	}
	return nil
}
