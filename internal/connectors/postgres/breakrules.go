package postgres

import (
	"github.com/leatdata/leat/internal/database"
	"github.com/leatdata/leat/internal/failpoint"
)

// breakRules switches single rules of exactness off, so that the tests of
// those rules can be shown to fail without them. Nothing but tests sets it.
type breakRules struct {
	database.Rules
	// manyWriters lets several writers into a table whose uniqueness is judged
	// at the commit (rule 5).
	manyWriters bool
	// unprovedEnd takes the end of the connection for that of the rows (rule 12).
	unprovedEnd bool
}

// brokenRules returns what the environment says, in a build for tests.
func brokenRules() breakRules {
	return breakRules{
		Rules:       database.BrokenRules(),
		manyWriters: failpoint.Broken("many-writers"),
		unprovedEnd: failpoint.Broken("unproved-end"),
	}
}
