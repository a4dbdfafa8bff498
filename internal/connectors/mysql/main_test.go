package mysql

import (
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// must returns a call's value, and fails the test on its error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
