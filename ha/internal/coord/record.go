package coord

import (
	"fmt"

	"github.com/leatdata/leat/ha"
)

// The folders that a store has, by their logical names.
const (
	Leader            = "leader"
	Contenders        = "contenders"
	Checkpoints       = "checkpoints"
	CheckpointCounter = "checkpoint-counter"
	JobGraphs         = "jobgraphs"
	RunningRegistry   = "running_job_registry"
	Results           = "results"
	Counters          = "counters"
	// Cluster holds what there is one of: the cluster's uuid.
	Cluster = "cluster"
)

// Folders returns all of them.
func Folders() []string {
	return []string{
		Leader, Contenders, Checkpoints, CheckpointCounter, JobGraphs,
		RunningRegistry, Results, Counters, Cluster,
	}
}

// Key is where a record is. Both parts are escaped.
type Key struct {
	Folder string
	Name   string
}

// String returns folder/name.
func (k Key) String() string { return k.Folder + "/" + k.Name }

// Record is what a key holds.
type Record struct {
	Key Key
	// Value is the reader's own.
	Value []byte
	// Version changes with each write. It may come back when the record was removed
	// in between.
	Version int64
}

// Kind is what an op does.
type Kind uint8

// The kinds of ops.
const (
	// Create fails with ErrExists if the key holds a record.
	Create Kind = iota
	// Update fails with ErrNotFound if it holds none, with ErrConflict if its
	// version is another.
	Update
	// Delete fails likewise.
	Delete
)

// AnyVersion lets an Update or Delete be of any version.
const AnyVersion int64 = -1

// Op is a step of a Write.
type Op struct {
	Kind    Kind
	Key     Key
	Value   []byte
	Version int64
}

// OpError says which op of a Write was refused, and why.
type OpError struct {
	Op    Op
	Cause error
}

// Error implements error.
func (e *OpError) Error() string {
	verb := [...]string{"create", "update", "delete"}[e.Op.Kind]
	return fmt.Sprintf("%s %s: %v", verb, e.Op.Key, e.Cause)
}

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Cause }

// Refusal makes a fenced write's error.
func Refusal(term ha.Term, stored ha.Epoch) error {
	return &ha.FencedError{Term: term, Epoch: stored}
}
