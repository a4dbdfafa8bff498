package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// holders names the processes that hold locks on a database file, for a
// message; it is as good as /proc/locks.
func holders(path string) string {
	var found []string
	for _, name := range []string{path, path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			key := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
			for _, pid := range lockers(key) {
				if who := processName(pid); !slices.Contains(found, who) {
					found = append(found, who)
				}
			}
		}
	}
	// Our own locks are among them; they matter when there are no others.
	others := slices.DeleteFunc(slices.Clone(found), func(who string) bool { return who == ourselves })
	switch {
	case len(found) == 0:
		return "another connection"
	case len(others) == 0:
		return ourselves
	}
	return strings.Join(others, " and ")
}

// lockers returns the processes with a lock on the file of that device and inode.
func lockers(key string) []int {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // read only
	var pids []int
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 1: POSIX  ADVISORY  WRITE 4711 08:01:123456 1073741825 1073741825
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] == "->" || fields[5] != key {
			continue
		}
		if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

func processName(pid int) string {
	if pid == os.Getpid() {
		return ourselves
	}
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("process %d (%s)", pid, strings.TrimSpace(string(name)))
}
