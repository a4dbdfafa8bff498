package format

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRunsThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		width := r.IntN(33)
		values := make([]uint32, r.IntN(300))
		for i := range values {
			values[i] = uint32(r.Uint64() & (1<<width - 1))
			if i > 0 && r.IntN(3) > 0 {
				values[i] = values[i-1]
			}
		}
		data := AppendRuns(nil, values, width)
		var runs Runs
		if err := runs.Reset(data, width); err != nil {
			t.Fatal(err)
		}
		got := make([]uint32, len(values))
		for at := 0; at < len(got); {
			n := min(len(got)-at, 1+r.IntN(50))
			if err := runs.Read(got[at : at+n]); err != nil {
				t.Fatalf("%d numbers of %d bits: %v", len(values), width, err)
			}
			at += n
		}
		if !slices.Equal(got, values) {
			t.Fatalf("width %d: %v became %v", width, values, got)
		}
	}
}

// A run that claims to be longer than anything is read as far as one asks,
// and takes no memory.
func TestRunsAreNotBelieved(t *testing.T) {
	var runs Runs
	if err := runs.Reset([]byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 1}, 1); err != nil {
		t.Fatal(err)
	}
	var some [10]uint32
	if allocs := testing.AllocsPerRun(10, func() { _ = runs.Read(some[:]) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
	if some[9] != 1 {
		t.Errorf("read %v", some)
	}
	for _, data := range [][]byte{{}, {2}, {3}, {3, 1, 2}, {0x80}, {1}} {
		if err := runs.Reset(data, 20); err != nil {
			t.Fatal(err)
		}
		if err := runs.Read(make([]uint32, 9)); err == nil {
			t.Errorf("% x was read", data)
		}
	}
	if err := runs.Reset(nil, 33); err == nil {
		t.Error("33 bits were taken")
	}
}

func TestDeltasThereAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		size := []int{32, 64}[r.IntN(2)]
		values := make([]int64, r.IntN(600))
		spread := r.IntN(size + 1)
		for i := range values {
			v := r.Uint64() >> (64 - spread)
			if spread == 0 {
				v = 0
			}
			values[i] = int64(v)
			if size == 32 {
				values[i] = int64(int32(v))
			}
		}
		data := AppendDeltas(nil, values, size)
		end := len(data)
		data = append(data, 0xaa, 0xbb) // what follows does not matter
		var d Deltas
		if err := d.Reset(data); err != nil {
			t.Fatal(err)
		}
		got := make([]int64, len(values))
		for at := 0; at < len(got); {
			n := min(len(got)-at, 1+r.IntN(100))
			if err := d.Read(got[at : at+n]); err != nil {
				t.Fatalf("%d numbers of %d bits: %v", len(values), size, err)
			}
			at += n
		}
		for i := range got {
			if size == 32 {
				got[i] = int64(int32(got[i]))
			}
		}
		if !slices.Equal(got, values) || d.Left() != 0 || d.End() != end {
			t.Fatalf("size %d: %v became %v, and ends at %d of %d", size, values, got, d.End(), end)
		}
	}
}
