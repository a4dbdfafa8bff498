package etcdserver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// Build builds the server from the module in the folder source, unless the same was
// built before, and returns the program's path below cache. One builds at a time.
func Build(source, cache string) (string, error) {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"main.go", "go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", fmt.Errorf("build etcd: %w", err)
		}
		sum.Write(text)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("build etcd: %w", err)
	}
	program := filepath.Join(cache, "etcd-"+hex.EncodeToString(sum.Sum(nil))[:16])
	lock, err := os.OpenFile(filepath.Join(cache, "etcd.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("build etcd: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("build etcd: wait for another build: %w", err)
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	} else if !os.IsNotExist(err) {
		return "", fmt.Errorf("build etcd: %w", err)
	}
	return program, build(source, program)
}

// build makes the program under another name first: what has its own is whole.
func build(source, program string) error {
	part := program + ".part"
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", part, ".")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build etcd, whose module needs the network the first time: %w\n%s", err, out)
	}
	if err := os.Rename(part, program); err != nil {
		return fmt.Errorf("build etcd: %w", err)
	}
	return nil
}
