package sqlite

import (
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/failpoint"
)

// breakRules switches single rules of exactness off, so that the tests of
// those rules can be shown to fail without them. Nothing but tests sets it.
type breakRules struct {
	// claimByInsert makes a claim insert the split's row where it is missing,
	// without a look at the run's marker (rule 2).
	claimByInsert bool
	// ignoreToken leaves the token out of the writer's conditions (rule 3).
	ignoreToken bool
	// commitAnyway sends COMMIT whatever number of rows the update changed (rule 3).
	commitAnyway bool
	// positionLast commits the position in a transaction of its own, after the
	// rows (rule 3).
	positionLast bool
}

// brokenRules returns what the environment says, in a build for tests.
func brokenRules() breakRules {
	return breakRules{
		claimByInsert: failpoint.Broken("claim-by-insert"),
		ignoreToken:   failpoint.Broken("ignore-token"),
		commitAnyway:  failpoint.Broken("commit-anyway"),
		positionLast:  failpoint.Broken("position-last"),
	}
}

// commitPositionLast breaks the rule of that name.
func (w *writer) commitPositionLast(next connector.SplitState) error {
	if err := w.conn.Exec("COMMIT"); err != nil {
		return err
	}
	w.sink.failpoint("before-commit")
	if err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := w.sink.ledger.commit(w.conn, w.attempt.Run.ID, next); err != nil {
		return err
	}
	return w.conn.Exec("COMMIT")
}
