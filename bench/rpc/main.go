// Command rpc measures package rpc beside gRPC, net/rpc, NATS and bare TCP: over
// loopback sockets between two processes, one contender after the other in each
// round, and prints the medians as a table. It is a module of its own, so that
// nothing else depends on the peers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "rpc bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("rpc", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 5, "rounds in which the contenders run one after the other")
	d := flags.Duration("time", time.Second, "how long one measurement takes")
	only := flags.String("only", "", "measure only what has this `text` in its name, as workload/contender")
	role := flags.String("role", "", "server, client, local or awake: what this program starts itself as")
	name := flags.String("contender", "", "for a role: who")
	work := flags.String("workload", "", "for a role: what")
	addr := flags.String("addr", "", "for a role: where the server is")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *role == "server":
		return serveChild(*name, stdin, stdout)
	case *role == "local":
		return localChild(*name, *work, *d, stdout)
	case *role == "awake":
		return stayAwake(stdin)
	case *role == "client":
		return clientOf(*name, *work, *addr, *d, stdout)
	case *rounds < 1 || *d <= 0 || flags.NArg() > 0:
		return errors.New("rpc takes flags only, at least one round and some time")
	}
	table, err := measureAll(*rounds, *d, *only, stderr)
	if err != nil {
		return err
	}
	table.print(stdout)
	return nil
}

// measureAll interleaves: each round runs everything once.
func measureAll(rounds int, d time.Duration, only string, progress io.Writer) (*table, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t := newTable(rounds, d)
	wanted := func(work, name string) bool { return strings.Contains(work+"/"+name, only) }
	for round := range rounds {
		for _, l := range locals() {
			for _, name := range []string{"channel", "hollywood", "leat"} {
				if !wanted(l.name, name) {
					continue
				}
				r, err := measureLocal(self, name, l, d)
				if err != nil {
					return nil, err
				}
				t.add(l.name, name, r)
			}
		}
		for _, w := range workloads() {
			for _, name := range w.among {
				if !wanted(w.name, name) {
					continue
				}
				r, err := measure(self, name, w, d)
				if err != nil {
					return nil, err
				}
				t.add(w.name, name, r)
				fmt.Fprintf(progress, "%d/%d %s %s: %.0f/s, p50 %s, cpu %s\n", round+1, rounds, w.name, name, r.Rate, r.P50, r.CPU)
			}
		}
	}
	return t, nil
}

// stayAwake keeps the processors from going to sleep between two messages, at
// the lowest priority, until stdin ends.
func stayAwake(stdin io.Reader) error {
	for range runtime.NumCPU() {
		go func() {
			runtime.LockOSThread()
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 19)
			for {
			}
		}()
	}
	_, err := io.Copy(io.Discard, stdin)
	return err
}

func median[T float64 | time.Duration](list []T) T {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
