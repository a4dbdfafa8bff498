package database

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/leatdata/leat/connector"
)

// Rule 8: a split that a deadlock has ended is written alone, and nobody
// overtakes it for ever.
func TestCrowdMakesRoomAfterADeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCrowd()
		var order []string
		enter := func(name string, split connector.SplitID) (leave func()) {
			leave, err := c.Enter(t.Context(), split)
			if err != nil {
				t.Error(err)
			}
			order = append(order, name)
			return leave
		}
		first, second := enter("first", 1), enter("second", 2)
		c.Clashed(1)
		first()
		alone, later := make(chan func(), 1), make(chan func(), 1)
		go func() { alone <- enter("alone", 1) }()
		synctest.Wait()
		go func() { later <- enter("later", 3) }()
		synctest.Wait()
		if len(order) != 2 {
			t.Fatalf("beside an open transaction came %q", order)
		}
		second()
		synctest.Wait()
		if len(order) != 3 || order[2] != "alone" {
			t.Fatalf("then came %q", order)
		}
		(<-alone)()
		(<-later)()
		open := enter("open", 2)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Enter(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait ends with %v", err)
		}
		open()
	})
}
