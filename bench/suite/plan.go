package suite

import (
	"context"
	"slices"
)

// Planned is a case whose turn has not come: its files and the tables it reads
// are made then.
type Planned struct {
	Name string

	build func(ctx context.Context, name string) (Case, error)
}

// Make makes the case.
func (p Planned) Make(ctx context.Context) (Case, error) { return p.build(ctx, p.Name) }

// Plan is all cases in their order.
func (e *Env) Plan() []Planned {
	return slices.Concat(e.small(), e.loads(), e.unloads())
}
