package database

import "github.com/leatdata/leat/internal/failpoint"

// Rules switches single rules of exactness off, so that the tests of those
// rules can be shown to fail without them. Nothing but tests sets it.
type Rules struct {
	// ClaimByInsert makes a claim insert the split's row where it is missing (rule 2).
	ClaimByInsert bool
	// IgnorePosition has an attempt go on from the engine's position in place
	// of the claim's (rule 2).
	IgnorePosition bool
	// IgnoreToken leaves the token out of the writer's conditions (rule 3).
	IgnoreToken bool
	// CommitAnyway has the writer go on, and send COMMIT, whatever number of
	// rows it found to be its own (rule 3).
	CommitAnyway bool
	// PositionFirst and PositionLast commit the position in a transaction of
	// its own, before the rows or after them (rule 3).
	PositionFirst, PositionLast bool
}

// BrokenRules returns what the environment says, in a build for tests.
func BrokenRules() Rules {
	return Rules{
		ClaimByInsert:  failpoint.Broken("claim-by-insert"),
		IgnorePosition: failpoint.Broken("ignore-position"),
		IgnoreToken:    failpoint.Broken("ignore-token"),
		CommitAnyway:   failpoint.Broken("commit-anyway"),
		PositionFirst:  failpoint.Broken("position-first"),
		PositionLast:   failpoint.Broken("position-last"),
	}
}
