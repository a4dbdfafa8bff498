package batch

import "sync"

// Pool keeps released batches for reuse. Its zero value is ready; it is safe
// for concurrent use. Batches that grew far past MaxBytes are let go, so that
// one huge record does not hold its memory for ever.
type Pool struct {
	mu   sync.Mutex
	free []*Batch
}

// Get returns an empty batch for the schema.
func (p *Pool) Get(s *Schema) *Batch {
	p.mu.Lock()
	var b *Batch
	if n := len(p.free); n > 0 {
		b = p.free[n-1]
		p.free = p.free[:n-1]
	}
	p.mu.Unlock()
	if b == nil {
		b = &Batch{pool: p}
	}
	b.Reset(s)
	return b
}

func (p *Pool) put(b *Batch) {
	if cap(b.Buf) > 4*MaxBytes {
		b.Buf = nil
	}
	clear(b.Rejects)
	p.mu.Lock()
	p.free = append(p.free, b)
	p.mu.Unlock()
}
