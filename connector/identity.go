package connector

import (
	"context"
	"slices"
)

// Identifier is a Source or Sink that can tell the places of its records. The
// engine refuses a job whose two ends share one, whatever the mode: records
// would be read while they are removed or added.
type Identifier interface {
	// Identify returns the places. It may connect, and changes nothing. A
	// sink is asked after Resolve; what it will make only then has no place.
	Identify(ctx context.Context) (Identity, error)
}

// Identity is where an end's records are. A place is a text that is the same
// whatever way it was come by, and no other place's: for a table the server's
// own identifier (not its address) and the table's, for a file its real path.
type Identity struct {
	// Places are those that hold the records themselves, with all parts that
	// are named as places too (partitions; the files of a folder).
	Places []string
	// Behind are those that the records come from or go to by another way, or
	// perhaps: a view's tables. A place shared so is a doubt and no error.
	Behind []string
}

// Meets tells whether two ends share a place: surely, or only perhaps.
func (i Identity) Meets(other Identity) (surely, perhaps bool) {
	if shares(i.Places, other.Places) {
		return true, false
	}
	return false, shares(i.Behind, other.Places) || shares(i.Places, other.Behind) || shares(i.Behind, other.Behind)
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(place string) bool { return slices.Contains(b, place) })
}
