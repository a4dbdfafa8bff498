package zk_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/zk"
)

// newClient starts a client of the tests' ensemble, below a folder of its own.
func newClient(ctx context.Context, folder string) (*zk.Client, *zk.Session, error) {
	client, err := zk.New(zk.Config{
		Servers: testenv.ExampleZooKeeper(), Chroot: folder,
		SessionTimeout: 30 * time.Second, ConnectTimeout: 10 * time.Second,
	})
	if err != nil {
		return nil, nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, nil, err
	}
	session, err := client.Session(ctx)
	if err != nil {
		return nil, nil, err
	}
	return client, session, session.EnsurePath(ctx, "/")
}

func Example() {
	ctx := context.Background()
	client, session, err := newClient(ctx, "/example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop()

	// The node is made once, whatever becomes of the answers, and lives as long as
	// the session.
	path, err := session.CreateProtected(ctx, "/worker", []byte(zk.NewID()), zk.Ephemeral)
	fmt.Println(path, err)
	// A transaction is done whole, or refused.
	_, err = session.Multi(ctx, zk.CheckOp("/worker", 0), zk.CreateOp("/other/x", nil, zk.Persistent))
	fmt.Println(err, errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrAmbiguous))
	// Output:
	// /worker <nil>
	// zk: multi: operation 1 (create /other/x): node does not exist true false
}

func ExampleSession_Watch() {
	ctx := context.Background()
	client, session, err := newClient(ctx, "/example-watch")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop()

	for node, err := range session.Watch(ctx, "/config") {
		switch {
		case err != nil:
			fmt.Println(err)
		case !node.Exists:
			fmt.Println("none yet")
			_, err = session.Create(ctx, "/config", []byte("first"), zk.Ephemeral)
		case node.Stat.Version == 0:
			fmt.Printf("%s\n", node.Data)
			_, err = session.Set(ctx, "/config", []byte("second"), 0)
		default:
			fmt.Printf("%s\n", node.Data)
			return
		}
		if err != nil {
			return
		}
	}
	// Output:
	// none yet
	// first
	// second
}

func ExampleLeader() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, _, err := newClient(ctx, "/example-leader")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop()

	led := make(chan struct{})
	leader, err := zk.NewLeader(zk.LeaderConfig{
		Client: client, Path: "/election", Data: []byte("host:1234"),
		Lead: func(ctx context.Context, term *zk.Term) {
			// Done only as long as nobody else leads.
			_, err := term.Multi(ctx, zk.CreateOp("/order", nil, zk.Persistent))
			fmt.Println("epoch", term.Epoch(), "wrote:", err)
			close(led)
			<-ctx.Done()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := leader.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	<-led
	leader.Stop()
	// Output: epoch 1 wrote: <nil>
}

func ExampleCounter() {
	ctx := context.Background()
	client, _, err := newClient(ctx, "/example-counter")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Stop()

	ids := zk.NewCounter(client, "/ids")
	first, err := ids.Next(ctx)
	fmt.Println(first, err)
	ten, err := ids.Take(ctx, 10)
	fmt.Println(ten, err)
	next, err := ids.Next(ctx)
	fmt.Println(next, err)
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 12 <nil>
}
