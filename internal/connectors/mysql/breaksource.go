package mysql

import "github.com/leatdata/leat/internal/failpoint"

// sourceRules switches single rules of exactness off, so that the tests of
// those rules can be shown to fail without them. Nothing but tests sets it.
type sourceRules struct {
	// unprovedEnd takes the end of the connection for that of the rows (rule 12).
	unprovedEnd bool
}

// brokenSourceRules returns what the environment says, in a build for tests.
func brokenSourceRules() sourceRules {
	return sourceRules{unprovedEnd: failpoint.Broken("unproved-end")}
}
