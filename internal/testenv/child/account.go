package child

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// Account is whom a server runs as. The zero one is ourselves.
type Account struct{ credential *syscall.Credential }

// AccountFor returns the account of that name when we are root, as whom servers
// refuse to run; else our own.
func AccountFor(name string) (Account, error) {
	if os.Geteuid() != 0 {
		return Account{}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return Account{}, fmt.Errorf("find the user that runs the server: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("read the id of user %s: %w", name, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return Account{}, fmt.Errorf("read the group of user %s: %w", name, err)
	}
	return Account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// Own gives dir to the account.
func (a Account) Own(dir string) error {
	if a.credential == nil {
		return nil
	}
	if err := os.Chown(dir, int(a.credential.Uid), int(a.credential.Gid)); err != nil {
		return fmt.Errorf("give the folder to the server's user: %w", err)
	}
	return nil
}

// Command returns a command that runs as the account and in a group of its own,
// so that an interrupt typed at the terminal reaches only us.
func (a Account) Command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: a.credential}
	return cmd
}
