package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit of times in /proc, the same on every Linux of today.
const tick = 10 * time.Millisecond

// TreeTime is the processor time, so far, of a process and its children, also of
// those that have ended and were waited for. Children's children count once
// they have ended: PostgreSQL has none.
func TreeTime(root int) (time.Duration, error) {
	before, err := readStat(root)
	for err == nil {
		var children time.Duration
		if children, err = childrenTime(root); err != nil {
			break
		}
		var after stat
		if after, err = readStat(root); err != nil {
			break
		}
		// A child that was waited for meanwhile may have been missed or counted twice.
		if after.waited == before.waited {
			return after.own + after.waited + children, nil
		}
		before = after
	}
	return 0, fmt.Errorf("read the processor time of process %d: %w", root, err)
}

// childrenTime is the time of the children that are there.
func childrenTime(root int) (time.Duration, error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		// A process that has ended since is no error.
		if s, err := readStat(pid); err == nil && s.parent == root {
			total += s.own + s.waited
		}
	}
	return total, nil
}

// stat is a process's parent, its own processor time, and that of the children
// it has waited for.
type stat struct {
	parent      int
	own, waited time.Duration
}

// readStat reads /proc/PID/stat, whose layout is in proc(5): the parent is the
// fourth field, the processor times are the 14th to the 17th.
func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The second field is a name in parentheses, which may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields)+2)
	}
	var s stat
	if s.parent, err = strconv.Atoi(string(fields[1])); err != nil {
		return stat{}, err
	}
	for i, field := range fields[11:15] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return stat{}, err
		}
		if i < 2 {
			s.own += time.Duration(ticks) * tick
		} else {
			s.waited += time.Duration(ticks) * tick
		}
	}
	return s, nil
}
