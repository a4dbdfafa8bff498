package report

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine is what figures depend on beside the programs.
type Machine struct {
	Date      string
	CPU       string
	Cores     int
	MemoryGiB int
	Kernel    string
	Go        string
	// Leat is the revision that was measured.
	Leat string
}

// Inspect finds the facts. What cannot be found is left empty.
func Inspect(ctx context.Context) Machine {
	m := Machine{
		Date: time.Now().UTC().Format(time.DateOnly), Cores: runtime.NumCPU(), Go: runtime.Version(),
		CPU: field("/proc/cpuinfo", "model name"),
	}
	var kib int
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal"), &kib); err == nil {
		m.MemoryGiB = (kib + 1<<19) >> 20
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(kernel))
	}
	// Outside of a checkout there is no revision.
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		m.Leat = strings.TrimSpace(string(out))
	}
	return m
}

// field returns the value of the first line "key : value" of a file in /proc.
func field(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// String tells the facts.
func (m Machine) String() string {
	return fmt.Sprintf("Machine: %d cores (%s), %d GiB, Linux %s, which servers, clients and files share. Built with %s: leat %s.",
		m.Cores, m.CPU, m.MemoryGiB, m.Kernel, m.Go, m.Leat)
}
