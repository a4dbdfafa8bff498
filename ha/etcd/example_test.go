package etcd_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/etcd"
	"github.com/leatdata/leat/internal/testenv"
)

// service leads as long as ctx lasts.
type service struct{ granted chan ha.Term }

func (s service) Grant(_ context.Context, _ ha.SessionID, term ha.Term) error {
	s.granted <- term
	return nil
}
func (service) Revoke()     {} // what was built for the grant is torn down here
func (service) Error(error) {} // to be logged

// A process takes part in an election, and writes what only the leader may.
func Example() {
	storage, err := os.MkdirTemp("", "storage")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(storage) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	registry := ha.Registry{"etcd": etcd.Factory}
	services, err := registry.Open(ctx, ha.Config{
		Type: "etcd", ClusterID: "/example", StorageDir: storage, Name: "host-a",
		Options: map[string]string{"etcd.endpoints": strings.Join(testenv.ExampleEtcd(), ",")},
	})
	if err != nil {
		panic(err)
	}
	s := service{make(chan ha.Term, 1)}
	if err := services.Election("dispatcher").Start(s); err != nil {
		panic(err)
	}
	term := <-s.granted
	fmt.Println("epoch:", term.Epoch)
	fmt.Println("written:", services.Jobs().SetRunning(ctx, term, "orders"))
	older := ha.Term{Epoch: term.Epoch, Grant: "of somebody else"}
	fmt.Println("refused:", services.Jobs().Finish(ctx, older, "orders", nil))
	fmt.Println("closed:", services.CloseAndCleanUp(ctx))
	// Output:
	// epoch: 1
	// written: <nil>
	// refused: finish job orders: fenced: term 1/of someb is not the present one, the store is at epoch 1
	// closed: <nil>
}
