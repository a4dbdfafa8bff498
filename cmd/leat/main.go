// Command leat copies records between databases and files, each exactly once.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/leatdata/leat/internal/cli"
)

// garbagePercent has the collector run when its heap has grown by a half, not by
// the whole: the way of a record makes next to no garbage, so that the heap is
// what is in use, and memory matters more.
const garbagePercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	// The first signal cancels; the second finds the default back, and ends
	// the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, cli.TakeArguments(os.Args[1:]), cli.ProcessEnv()))
}
