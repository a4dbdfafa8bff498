package pgserver

import (
	"context"
	"os/exec"
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

// Create makes a PostgreSQL, with trust authentication for every user, and
// starts it. It returns once it answers.
func Create(ctx context.Context, cfg Config) (*Server, error) {
	p, err := find()
	if err != nil {
		return nil, err
	}
	// SIGQUIT is an immediate shutdown: the server takes its children along.
	return child.Create(ctx, child.Program{
		Name: "postgres", Account: p.account, Quit: syscall.SIGQUIT, Install: p.install, Run: p.run,
	}, cfg)
}

func (p *programs) install(c *child.Config) *exec.Cmd {
	return p.account.Command(p.initdb, "--pgdata="+c.Data(), "--auth=trust", "--username=postgres",
		"--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions")
}

func (p *programs) run(c *child.Config, port int) *exec.Cmd {
	args := []string{
		"-D", c.Data(), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
	}
	for _, setting := range c.Settings {
		args = append(args, "-c", setting)
	}
	return p.account.Command(p.postgres, args...)
}
