package child

import (
	"context"
	"net"
	"os/exec"
)

// Place is a host for a server, such as a network namespace.
type Place struct {
	// Addr is the host's address.
	Addr string
	// Command makes a command that runs there, and Dial connects from there.
	Command func(path string, args ...string) *exec.Cmd
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Here is our own host.
func Here() Place {
	return Place{Addr: "127.0.0.1", Command: exec.Command, Dial: new(net.Dialer).DialContext}
}
