package elect

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// descendants are the ids of all processes below one, zombies too, but for one and
// those below that.
func descendants(of, spare int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if pid, parent, ok := parseStat(text); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	delete(children, spare)
	found := slices.DeleteFunc(children[of], func(pid int) bool { return pid == spare })
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// parseStat reads "pid (name) state parent …"; a name may hold anything.
func parseStat(text []byte) (pid, parent int, ok bool) {
	head, _, _ := bytes.Cut(text, []byte(" "))
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, 0, false
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 2 {
		return 0, 0, false
	}
	pid, errPid := strconv.Atoi(string(head))
	parent, errParent := strconv.Atoi(string(fields[1]))
	return pid, parent, errPid == nil && errParent == nil
}

// exitCode is what a shell makes of how a process has ended.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
