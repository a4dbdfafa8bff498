package task_test

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/task"
)

// The filter makes the batch and the mapper swap their spans; one batch is filled
// again and again, as a reader does.
func TestAllocNothingPerMappedBatch(t *testing.T) {
	s := &batch.Schema{Fields: []batch.Field{
		{Name: "id", Type: batch.Of(batch.Int64)}, {Name: "name", Type: batch.Of(batch.Text)},
	}}
	constant := []byte("x")
	m, err := task.NewMapper(s, []task.Column{
		{Name: "name", Source: 1}, {Name: "c", Source: -1, Constant: constant}, {Name: "id", Source: 0}, {Name: "again", Source: 1},
	}, `id != 3`)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Bind(m.Out()); err != nil {
		t.Fatal(err)
	}
	var pool batch.Pool
	digit, name := []byte("0"), []byte("a name")
	pass := func() {
		b := pool.Get(s)
		for i := range 100 {
			digit[0] = '0' + byte(i%10)
			b.Append(digit)
			b.Append(name)
		}
		b.Seal()
		if filtered := m.Map(b); filtered != 10 || b.Rows != 90 {
			t.Fatalf("%d records are left out and %d are left", filtered, b.Rows)
		}
		b.Release()
	}
	if n := testing.AllocsPerRun(100, pass); n > 0 {
		t.Errorf("%.0f allocations per batch", n)
	}
}
