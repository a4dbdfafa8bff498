package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/embedded"
)

// dispatcher is a component that keeps one job's graph while it leads.
type dispatcher struct {
	services ha.Services
	stored   chan ha.Term
}

func (d *dispatcher) Grant(ctx context.Context, id ha.SessionID, term ha.Term) error {
	if err := d.services.JobGraphs().Put(ctx, term, "orders", []byte("graph")); err != nil {
		return err // others get the chance
	}
	d.services.Election("dispatcher").Confirm(id, "10.0.0.1:7000")
	d.stored <- term
	return nil
}

func (d *dispatcher) Revoke()     {}
func (d *dispatcher) Error(error) {} // to be logged

// worker follows the dispatcher. A listener must not block for long.
type worker struct{ heard chan ha.Leader }

func (w *worker) LeaderChanged(leader ha.Leader) { w.heard <- leader }
func (w *worker) Error(error)                    {}

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	registry := ha.Registry{"embedded": new(embedded.Server).Factory}
	master, err := registry.Open(ctx, ha.Config{Type: "embedded", Name: "master"})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := &dispatcher{services: master, stored: make(chan ha.Term, 1)}
	w := &worker{heard: make(chan ha.Leader, 10)}
	if err := errors.Join(
		master.Election("dispatcher").Start(d), master.Retrieval("dispatcher").Start(w),
	); err != nil {
		fmt.Println(err)
		return
	}
	term := <-d.stored
	fmt.Println("granted epoch", term.Epoch)
	fmt.Println("the dispatcher is at", (<-w.heard).Address)

	// Whoever has met a higher epoch says so: this grant is over, and its writes
	// are refused.
	master.Observe(term.Epoch + 1)
	fmt.Println("granted epoch", (<-d.stored).Epoch)
	err = master.JobGraphs().Remove(ctx, term, "orders")
	fmt.Println("the old term is refused:", errors.Is(err, ha.ErrFenced))
	if err := master.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// granted epoch 1
	// the dispatcher is at 10.0.0.1:7000
	// granted epoch 3
	// the old term is refused: true
}
