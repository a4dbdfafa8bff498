package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/leatdata/leat/rpc"
)

// Ping and Pong are messages: structs whose fields have numbers.
type Ping struct {
	N int `rpc:"1"`
}

type Pong struct {
	N    int    `rpc:"1"`
	From string `rpc:"2"`
}

func pingTypes() []rpc.MessageType {
	return []rpc.MessageType{rpc.Define[Ping]("ping"), rpc.Define[Pong]("pong")}
}

var _ = rpc.AsProcess("ponger", ponger)

// ponger is the other process: it says where it listens, and answers until its
// standard input ends.
func ponger() {
	ctx := context.Background()
	env, err := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: pingTypes()})
	if err == nil {
		err = env.Start(ctx)
	}
	if err == nil {
		_, err = env.Register("ponger", rpc.Endpoint{Handlers: []rpc.Handler{
			rpc.Reply(func(_ context.Context, p Ping) (Pong, error) {
				return Pong{N: p.N, From: "another process"}, nil
			}),
		}})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(env.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = env.Stop(ctx)
}

// Two processes: this one asks an endpoint of another, which is this program
// started again.
func Example_twoProcesses() {
	ctx := context.Background()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEAT_RPC_TEST_PROCESS=ponger")
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = stdin.Close() }()
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		fmt.Println(err)
		return
	}

	env, err := rpc.New(rpc.Config{Messages: pingTypes()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = env.Stop(ctx) }()
	ref := env.RefAt(rpc.Addr(strings.TrimSpace(addr)), "ponger")
	for n := range 3 {
		pong, err := rpc.Ask[Pong](ctx, ref, Ping{N: n})
		fmt.Println(pong.N, pong.From, err)
	}
	// Output:
	// 0 another process <nil>
	// 1 another process <nil>
	// 2 another process <nil>
}

// An ask whose context ends first: what it asked for may have been done.
func ExampleAsk_timeout() {
	env, err := rpc.New(rpc.Config{Messages: pingTypes()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = env.Stop(context.Background()) }()
	ref, err := env.Register("sleeper", rpc.Endpoint{Handlers: []rpc.Handler{
		rpc.Reply(func(ctx context.Context, p Ping) (Pong, error) {
			<-ctx.Done() // The asker's deadline is the handler's too.
			return Pong{}, ctx.Err()
		}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = rpc.Ask[Pong](ctx, ref, Ping{N: 1})
	fmt.Println(errors.Is(err, rpc.ErrTimeout), errors.Is(err, rpc.ErrDisconnected))

	_, err = rpc.Ask[Pong](context.Background(), env.Ref("nobody"), Ping{N: 1})
	fmt.Println(err)
	// Output:
	// true false
	// could not find endpoint nobody
}

// The messages of the supervised worker.
type (
	// Hello registers a worker at its supervisor, with the way back to it.
	Hello struct {
		Worker rpc.Ref `rpc:"1"`
	}
	Task struct {
		Name string `rpc:"1"`
	}
	Done struct {
		Name string `rpc:"1"`
	}
)

// A supervisor gives tasks to a worker that has said hello, in a message that
// carries its ref, and notices when the worker's process is gone. Both are
// sequential endpoints: their state needs no lock.
func Example_supervisedWorker() {
	ctx := context.Background()
	types := []rpc.MessageType{rpc.Define[Hello]("hello"), rpc.Define[Task]("task"), rpc.Define[Done]("done")}
	network := rpc.NewMemory() // One network within this process; without it, TCP.
	master, err1 := rpc.New(rpc.Config{Listen: "master:0", Transport: network, Messages: types})
	node, err2 := rpc.New(rpc.Config{Transport: network, Messages: types})
	if err := errors.Join(err1, err2, master.Start(ctx), node.Start(ctx)); err != nil {
		fmt.Println(err)
		return
	}

	finished, lost := make(chan string), make(chan string)
	workers := map[rpc.Addr]rpc.Ref{}
	supervisor, err := master.Register("supervisor", rpc.Endpoint{
		Handlers: []rpc.Handler{
			rpc.Receive(func(_ context.Context, h Hello) error {
				workers[h.Worker.Addr()] = h.Worker
				return rpc.Send(h.Worker, Task{Name: "copy"})
			}),
			rpc.Receive(func(_ context.Context, d Done) error { finished <- d.Name; return nil }),
		},
		OnDisconnected: func(_ context.Context, addr rpc.Addr) error {
			if w, ok := workers[addr]; ok {
				delete(workers, addr)
				lost <- w.Name()
			}
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	boss := node.RefAt(supervisor.Addr(), supervisor.Name())
	_, err = node.Register("worker-1", rpc.Endpoint{
		OnStart: func(_ context.Context, self rpc.Ref) error { return rpc.Send(boss, Hello{Worker: self}) },
		Handlers: []rpc.Handler{
			rpc.Receive(func(_ context.Context, t Task) error { return rpc.Send(boss, Done(t)) }),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("finished:", <-finished)
	err = node.Stop(ctx)
	fmt.Println("lost:", <-lost, err)
	fmt.Println(master.Stop(ctx))
	// Output:
	// finished: copy
	// lost: worker-1 <nil>
	// <nil>
}
