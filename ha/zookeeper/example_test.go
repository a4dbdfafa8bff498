package zookeeper_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/zookeeper"
	"github.com/leatdata/leat/internal/testenv"
)

// dispatcher leads: what it builds is for one grant.
type dispatcher struct {
	services ha.Services
	ready    chan error
}

func (d *dispatcher) Grant(ctx context.Context, id ha.SessionID, term ha.Term) error {
	// Refused in the store's own transaction once somebody else leads.
	err := d.services.JobGraphs().Put(ctx, term, "orders", []byte("copy orders"))
	if err == nil {
		// Ready: now others find it.
		d.services.Election("dispatcher").Confirm(id, "host-a:6123")
	}
	d.ready <- err
	return err
}

func (*dispatcher) Revoke()     {} // what was built is torn down here
func (*dispatcher) Error(error) {} // to be logged

// follower hears who leads.
type follower struct{ heard chan ha.Leader }

func (f *follower) LeaderChanged(leader ha.Leader) { f.heard <- leader }
func (*follower) Error(error)                      {}

// A process takes part in an election, publishes its address when it leads, and
// stores a job's graph under its term.
func Example() {
	storage, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(storage) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	registry := ha.Registry{"zookeeper": zookeeper.Factory}
	services, err := registry.Open(ctx, ha.Config{
		Type: "zookeeper", ClusterID: "/example", StorageDir: storage, Name: "host-a",
		Options: map[string]string{"zookeeper.quorum": strings.Join(testenv.ExampleZooKeeper(), ",")},
	})
	if err != nil {
		panic(err)
	}
	d := &dispatcher{services: services, ready: make(chan error, 1)}
	if err := services.Election("dispatcher").Start(d); err != nil {
		panic(err)
	}
	f := &follower{heard: make(chan ha.Leader, 8)}
	retrieval := services.Retrieval("dispatcher")
	if err := retrieval.Start(f); err != nil {
		panic(err)
	}

	fmt.Println("stored:", <-d.ready == nil)
	leader := <-f.heard
	fmt.Println("leader:", leader.Address, "epoch", leader.Epoch)
	graph, err := services.JobGraphs().Recover(ctx, "orders")
	fmt.Printf("graph: %s, %v\n", graph, err)
	status, err := services.Status(ctx)
	fmt.Println("holder:", status.Holder, status.Held, err)

	retrieval.Stop()
	// Others lead at once: nobody waits for a timeout.
	fmt.Println("closed:", services.CloseAndCleanUp(ctx))
	// Output:
	// stored: true
	// leader: host-a:6123 epoch 1
	// graph: copy orders, <nil>
	// holder: host-a true <nil>
	// closed: <nil>
}
