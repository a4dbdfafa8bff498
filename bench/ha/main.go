// Command ha measures elections: ours and Curator's LeaderLatch on one ZooKeeper
// ensemble of three, how long it takes from the end of a leader, killed or in an
// orderly way, until another leads; and what a fenced write costs beside a plain
// one. It prints tables of Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/leatdata/leat/internal/testenv/zkserver"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "ha bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("ha", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 30, "how often each way of ending a leader is measured")
	writes := flags.Int("writes", 3000, "how many writes of each kind are measured")
	timeout := flags.Duration("timeout", 2*time.Second, "the session timeout")
	role := flags.String("role", "", "for a contender: who this program is")
	servers := flags.String("servers", "", "for a contender: the ensemble")
	name := flags.String("name", "", "for a contender: what it calls itself")
	storage := flags.String("storage", "", "for a contender: the shared folder")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *role != "" {
		return compete(*role, contention{*servers, *name, *storage, *timeout}, stdin, stdout)
	}
	if *rounds < 1 || *writes < 1 || *timeout <= 0 || flags.NArg() > 0 {
		return errors.New("ha takes flags only, at least one round, one write and some time")
	}
	return measure(*rounds, *writes, *timeout, stdout, stderr)
}

func measure(rounds, writes int, timeout time.Duration, stdout, progress io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bench-ha-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx := context.Background()
	ensemble, err := zkserver.Create(ctx, zkserver.Config{Dir: filepath.Join(dir, "zookeeper"), Members: 3})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ensemble.Stop()) }()
	m := &meter{dir: dir, timeout: timeout, ensemble: ensemble, progress: progress}
	table, err := m.elections(ctx, rounds)
	if err != nil {
		return err
	}
	table.print(stdout)
	fence, err := m.fence(ctx, writes)
	if err != nil {
		return err
	}
	fence.print(stdout)
	return nil
}
