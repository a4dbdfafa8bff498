package testenv

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// holdVariable makes this test binary start a server, say where it is, and wait
// to be killed.
const holdVariable = "TESTENV_HOLD"

func TestMain(m *testing.M) {
	if os.Getenv(holdVariable) != "" {
		hold()
	}
	Main(m)
}

func hold() {
	server, err := shared.sharedPostgres()
	if err != nil {
		fmt.Println("no server:", err)
		os.Exit(1)
	}
	fmt.Println("holding", server.server.Pid(), server.Addr(), shared.scratch.dir, ".")
	<-context.Background().Done()
}
