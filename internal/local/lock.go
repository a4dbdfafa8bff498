package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/leatdata/leat/connector"
)

// ErrLocked says that another process runs the job.
var ErrLocked = errors.New("another process runs this job")

// lockJob takes the lock of a job's folder until release. The operating
// system releases it when the process ends, however it ends. The folder is
// made its owner's alone, since dirty records hold what the source holds.
func lockJob(dir string) (release func(), err error) {
	name := filepath.Join(dir, "lock")
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock the job: %w", err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the job: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		holder := make([]byte, 64)
		n, _ := f.ReadAt(holder, 0)
		_ = f.Close()
		return nil, connector.E(connector.Usage, fmt.Errorf("%w (%s holds %s): wait for it, or end it", ErrLocked, holder[:n], name))
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	// The pid is for people only; the lock does not rest on it.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "process %d", os.Getpid())
	}
	return func() { _ = f.Close() }, nil
}

// lockFolder waits for the lock of a folder, so that of two jobs that write
// the same file there the second sees the first's. A file system without
// locks goes without.
func lockFolder(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			return func() { _ = f.Close() }
		}
	}
}
