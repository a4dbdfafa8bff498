package database

import "context"

// Commit is the steps by which a writer ends its transaction.
type Commit struct {
	Rules Rules
	// Advance moves the split's state in the transaction, and returns the
	// number of rows that were still the attempt's own.
	Advance func(ctx context.Context) (int64, error)
	// Apart does the same in a session of its own. Only a broken rule calls it.
	Apart func(ctx context.Context) error
	// Send sends COMMIT and proves that it was done.
	Send func(ctx context.Context) error
	// Fenced says why the split is not the attempt's any more.
	Fenced func(ctx context.Context) error
	// Failpoint ends the process there in test builds.
	Failpoint func(string)
}

// Run commits the rows together with the state, which is moved last, and only
// when it is still the attempt's own (exactness rule 3).
func (c *Commit) Run(ctx context.Context) error {
	switch {
	case c.Rules.PositionFirst:
		if err := c.Apart(ctx); err != nil {
			return err
		}
		c.Failpoint("before-commit")
		return c.Send(ctx)
	case c.Rules.PositionLast:
		if err := c.Send(ctx); err != nil {
			return err
		}
		c.Failpoint("before-commit")
		_, err := c.Advance(ctx)
		return err
	}
	found, err := c.Advance(ctx)
	if err != nil {
		return err
	}
	if found != 1 && !c.Rules.CommitAnyway {
		return c.Fenced(ctx)
	}
	c.Failpoint("before-commit")
	return c.Send(ctx)
}
