package ratelimit_test

import (
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }
