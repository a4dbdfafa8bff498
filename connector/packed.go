package connector

import (
	"context"

	"github.com/leatdata/leat/batch"
)

// PackedSource is a Source that can hand rows on in its system's own form, to
// a PackedWriter of the same system. Positions, counts and dirty records are
// the same either way: an attempt may go on with cells where another, with
// packed rows, has ended.
type PackedSource interface {
	Source
	// Packing returns the form of rows that have these fields, in this order;
	// nil when they can only be read as cells.
	Packing(ctx context.Context, fields []string) (batch.Packing, error)
	// OpenPacked is Open, for packed batches of the form.
	OpenPacked(ctx context.Context, split Split, pos Position, p batch.Packing) (Reader, error)
}

// PackedWriter is a Writer that may take packed batches.
type PackedWriter interface {
	Writer
	// TakesPacked reports whether Write takes batches of this form, because
	// they make the same rows as their cells would.
	TakesPacked(p batch.Packing) bool
}
