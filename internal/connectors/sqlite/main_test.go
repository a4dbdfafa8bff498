package sqlite

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests or, as a child of a test, what childVariable says.
func TestMain(m *testing.M) {
	if what := os.Getenv(childVariable); what != "" {
		if err := runChild(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
