package mysql

import (
	"github.com/leatdata/leat/internal/database"
	"github.com/leatdata/leat/internal/failpoint"
)

// breakRules switches single rules of exactness off, so that the tests of
// those rules can be shown to fail without them. Nothing but tests sets it.
type breakRules struct {
	database.Rules
	// trustLoad takes what LOAD DATA has done as good, whatever it counted and
	// warned of (rule 6).
	trustLoad bool
}

// brokenRules returns what the environment says, in a build for tests.
func brokenRules() breakRules {
	return breakRules{Rules: database.BrokenRules(), trustLoad: failpoint.Broken("trust-load")}
}
