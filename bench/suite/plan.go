package suite

import (
	"context"
	"slices"
)

// Planned is a case whose turn has not come: its files and the tables it reads
// are made then.
type Planned struct {
	Group, Name string
	// Needs are connectors that leat must have for it.
	Needs []string

	build func(ctx context.Context) (Case, error)
}

// Make makes the case.
func (p Planned) Make(ctx context.Context) (Case, error) {
	c, err := p.build(ctx)
	c.Group, c.Name = p.Group, p.Name
	c.Parquet = slices.Contains(p.Needs, "parquet")
	return c, err
}

// Plan is all cases in their order.
func (e *Env) Plan() []Planned {
	return slices.Concat(e.loads(), e.unloads(), e.transfers(), e.parquets(), e.mysqls(), e.sqlites())
}
