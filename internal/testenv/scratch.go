package testenv

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// sweep waits until its standard input ends, then for the servers of the folder
// $1, and removes it. The servers themselves are ended by their parent-death
// signal.
const sweep = `cat >/dev/null
for f in "$1"/*/data/postmaster.pid "$1"/*/data/mariadbd.pid; do
	[ -f "$f" ] && timeout 30 tail -s 0.1 --pid="$(head -n 1 "$f")" -f /dev/null
done
rm -rf -- "$1"`

// scratch is a folder that is removed when close is called, and by a watcher
// process when ours is killed.
type scratch struct {
	dir     string
	watcher *exec.Cmd
	hold    io.Closer
}

func newScratch() (*scratch, error) {
	dir, err := os.MkdirTemp(enterableTemp(), "leat-test-")
	if err != nil {
		return nil, fmt.Errorf("make scratch folder: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open scratch folder to the server's user: %w", err)
	}
	watcher := exec.Command("/bin/sh", "-c", sweep, "leat-sweep", dir)
	// A group of its own: an interrupt typed at the terminal must not end it.
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	hold, err := watcher.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("watch scratch folder: %w", err)
	}
	if err := watcher.Start(); err != nil {
		return nil, fmt.Errorf("watch scratch folder: %w", err)
	}
	return &scratch{dir: dir, watcher: watcher, hold: hold}, nil
}

// folder makes a new folder below this one.
func (s *scratch) folder(name string) (string, error) {
	dir, err := os.MkdirTemp(s.dir, name+"-")
	if err != nil {
		return "", fmt.Errorf("make folder for %s: %w", name, err)
	}
	return dir, nil
}

// close lets the watcher remove the folder and waits for it.
func (s *scratch) close() error {
	if err := s.hold.Close(); err != nil {
		return fmt.Errorf("release scratch folder: %w", err)
	}
	if err := s.watcher.Wait(); err != nil {
		return fmt.Errorf("remove scratch folder %s: %w", s.dir, err)
	}
	return nil
}

// enterableTemp returns the temporary folder, or /tmp when root's own one lies
// where the user that servers run as cannot enter.
func enterableTemp() string {
	const fallback = "/tmp"
	temp, err := filepath.Abs(os.TempDir())
	if err != nil || os.Geteuid() != 0 {
		return os.TempDir()
	}
	for dir := temp; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return fallback
		}
		if dir == filepath.Dir(dir) {
			return temp
		}
	}
}
