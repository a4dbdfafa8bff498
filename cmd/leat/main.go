// Command leat copies records between databases and files, each exactly once.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/leatdata/leat/internal/cli"
)

func main() {
	// The first signal cancels; the second finds the default back, and ends
	// the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, cli.TakeArguments(os.Args[1:]), cli.ProcessEnv()))
}
