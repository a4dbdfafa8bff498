package election

import (
	"context"
	"fmt"
	"sync"

	"github.com/leatdata/leat/ha"
)

// grant is one time of leading, and who serves under it.
type grant struct {
	term    ha.Term
	ctx     context.Context
	cancel  context.CancelFunc
	drained func() // called once, when it has ended and nobody serves

	mu      sync.Mutex
	serving int
	ended   bool
}

// join counts a component in; false: the grant has ended.
func (g *grant) join() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.serving++
	}
	return !g.ended
}

func (g *grant) leave() {
	g.mu.Lock()
	g.serving--
	last := g.ended && g.serving == 0
	g.mu.Unlock()
	if last {
		g.drained()
	}
}

func (g *grant) end() {
	g.cancel()
	g.mu.Lock()
	g.ended = true
	nobody := g.serving == 0
	g.mu.Unlock()
	if nobody {
		g.drained()
	}
}

// begin lets the components lead.
func (e *Elector) begin(term ha.Term) {
	g := &grant{term: term, drained: func() { e.post(Drained{Grant: term.Grant}) }}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	e.cfg.Logger.Info("leadership begins", "epoch", term.Epoch, "process", e.cfg.Name)
	e.update(func(v *view) { v.grant = g })
}

// end stops the present grant.
func (e *Elector) end() {
	var g *grant
	e.update(func(v *view) { g, v.grant = v.grant, nil })
	g.end()
}

func (e *Elector) overdue(term ha.Term) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.components {
		if c.servesLocked(term) {
			c.tell(fmt.Errorf("component %s still runs under epoch %d, which ended long ago: end the process", c.name, term.Epoch))
		}
	}
}
