package testenv

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// holdVariable makes this test binary start the server it names, say where it
// is, and wait to be killed.
const holdVariable = "TESTENV_HOLD"

func TestMain(m *testing.M) {
	switch os.Getenv(holdVariable) {
	case "postgres":
		server, err := shared.sharedPostgres()
		hold(server, server.Pid, err)
	case "mariadb":
		server, err := shared.sharedMariaDB()
		hold(server, server.Pid, err)
	}
	Main(m)
}

func hold(server interface{ Addr() string }, pid func() int, err error) {
	if err != nil {
		fmt.Println("no server:", err)
		os.Exit(1)
	}
	fmt.Println("holding", pid(), server.Addr(), shared.scratch.dir, ".")
	<-context.Background().Done()
}
