package suite

import (
	"context"

	"github.com/leatdata/leat/bench/dataset"
)

// SmallRows is the size of the job whose time is all start and end.
const SmallRows = 10

// small is the case of a job with ten rows.
func (e *Env) small() []Planned {
	return []Planned{{"csv → postgres, 10 rows", func(_ context.Context, name string) (Case, error) {
		c, err := e.load(name, dataset.Lineitem(), SmallRows, "UNLOGGED", goals{})
		if err != nil {
			return c, err
		}
		c.Contenders = c.Contenders[:2]
		return c, nil
	}}}
}
