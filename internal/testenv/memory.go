package testenv

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// peak follows the peak of a process's resident memory. What the kernel tells
// at the end of a child is at least the parent's own size when it started it,
// so the process itself is asked, again and again until it ends.
type peak struct{ bytes atomic.Int64 }

// peakInterval is the time between two looks. The mark only rises, so that
// what is missed is a rise in the last moment of a process.
const peakInterval = 10 * time.Millisecond

func (p *peak) follow(pid int, done <-chan struct{}) {
	ticker := time.NewTicker(peakInterval)
	defer ticker.Stop()
	name := fmt.Sprintf("/proc/%d/status", pid)
	for {
		if status, err := os.ReadFile(name); err == nil {
			p.bytes.Store(max(p.bytes.Load(), highWater(status)))
		}
		select {
		case <-ticker.C:
		case <-done:
			return
		}
	}
}

// highWater finds the high-water mark in a process's status, in bytes.
func highWater(status []byte) int64 {
	_, rest, ok := bytes.Cut(status, []byte("VmHWM:"))
	if !ok {
		return 0
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
