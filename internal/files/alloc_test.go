package files

import (
	"runtime"
	"testing"

	"github.com/leatdata/leat/batch"
)

// A source reads and a sink writes with few allocations per MiB, whatever the
// format does.
func TestAllocationsDoNotGrowWithTheData(t *testing.T) {
	const size = 32 << 20
	s, splits := blockSource(t, size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := readBlocks(t.Context(), s, splits[0], func(b *batch.Batch) error { b.Release(); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := writeBlocks(t, s, splits[0], Plain); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 1000 {
		t.Errorf("%d allocations for %d MiB", n, 2*size>>20)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > size/2 {
		t.Errorf("%d bytes allocated for %d", n, 2*size)
	}
}
