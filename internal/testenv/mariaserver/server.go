package mariaserver

import (
	"context"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/leatdata/leat/internal/testenv/child"
)

type (
	// Config is that of all servers of ours.
	Config = child.Config
	// Server is that of all servers of ours.
	Server = child.Server
)

// Create makes a MariaDB, whose user root has no password, and starts it. It
// returns once it answers.
func Create(ctx context.Context, cfg Config) (*Server, error) {
	p, err := find()
	if err != nil {
		return nil, err
	}
	// The server is one process, which any other signal would have tidy up first.
	return child.Create(ctx, child.Program{
		Name: "mariadbd", Account: p.account, Quit: syscall.SIGKILL, Install: p.makeData, Run: p.run,
	}, cfg)
}

// makeData gives the server a folder of its own for temporary tables: servers
// name them by their process id, which another one in a namespace of its own
// may have too. Nothing is synced: it lives no longer than we do.
func (p *programs) makeData(c *child.Config) *exec.Cmd {
	return p.account.Command(p.install, "--no-defaults", "--datadir="+c.Data(), "--tmpdir="+c.Dir,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=48M",
		"--innodb-flush-method=nosync", "--debug-no-sync=1")
}

func (p *programs) run(c *child.Config, port int) *exec.Cmd {
	args := []string{
		"--no-defaults", "--datadir=" + c.Data(), "--tmpdir=" + c.Dir, "--port=" + strconv.Itoa(port), "--bind-address=127.0.0.1",
		"--socket=", "--pid-file=" + filepath.Join(c.Data(), "mariadbd.pid"), "--skip-name-resolve",
	}
	for _, setting := range c.Settings {
		args = append(args, "--"+setting)
	}
	return p.account.Command(p.server, args...)
}
