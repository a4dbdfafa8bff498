package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/leatdata/leat/internal/testenv/zkserver"
)

// Network is some hosts of our own on one switch, each a network namespace, so that
// packet filters can cut them off. The machine's own network is left alone. It needs
// root, and the programs ip and iptables.
type Network struct {
	prefix string

	mu    sync.Mutex
	hosts int
}

// NewNetwork makes a network without hosts that ends with the test.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root: run the tests as root")
	}
	if err := removeDeadNamespaces(); err != nil {
		t.Fatal(err)
	}
	n := &Network{prefix: fmt.Sprintf("%s%d-%d", namespacePrefix, os.Getpid(), shared.networks.Add(1))}
	t.Cleanup(func() {
		if err := run("ip", "netns", "del", n.name(0)); err != nil {
			t.Errorf("remove the switch: %v", err)
		}
	})
	for _, command := range []string{
		"netns add " + n.name(0),
		"-n " + n.name(0) + " link add switch type bridge",
		"-n " + n.name(0) + " link set switch up",
	} {
		if err := run("ip", strings.Fields(command)...); err != nil {
			t.Fatalf("make the switch: %v", err)
		}
	}
	return n
}

const namespacePrefix = "leat-"

// name is a host's namespace; that of number 0 is the switch's.
func (n *Network) name(host int) string { return n.prefix + "-" + strconv.Itoa(host) }

// removeDeadNamespaces removes what a killed test binary has left.
func removeDeadNamespaces() error {
	files, err := filepath.Glob("/run/netns/" + namespacePrefix + "*")
	if err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(file)
		pid, _, _ := strings.Cut(strings.TrimPrefix(name, namespacePrefix), "-")
		owner, err := strconv.Atoi(pid)
		if err != nil || !errors.Is(syscall.Kill(owner, 0), syscall.ESRCH) {
			continue
		}
		// Another may be quicker.
		_ = run("ip", "netns", "del", name)
	}
	return nil
}

// Host is one of a network's.
type Host struct {
	name, addr string
	namespace  *os.File
}

// Host adds one.
func (n *Network) Host(t testing.TB) *Host {
	t.Helper()
	n.mu.Lock()
	n.hosts++
	number := n.hosts
	n.mu.Unlock()
	h := &Host{name: n.name(number), addr: fmt.Sprintf("10.99.%d.%d", number/250, 1+number%250)}
	port := "port" + strconv.Itoa(number)
	t.Cleanup(func() {
		if h.namespace != nil {
			_ = h.namespace.Close()
		}
		if err := run("ip", "netns", "del", h.name); err != nil {
			t.Errorf("remove a host: %v", err)
		}
	})
	for _, command := range []string{
		"netns add " + h.name,
		"link add net netns " + h.name + " type veth peer name " + port + " netns " + n.name(0),
		"-n " + h.name + " addr add " + h.addr + "/16 dev net",
		"-n " + h.name + " link set net up",
		"-n " + h.name + " link set lo up",
		"-n " + n.name(0) + " link set " + port + " master switch up",
	} {
		if err := run("ip", strings.Fields(command)...); err != nil {
			t.Fatalf("make a host: %v", err)
		}
	}
	namespace, err := os.Open("/run/netns/" + h.name)
	if err != nil {
		t.Fatalf("make a host: %v", err)
	}
	h.namespace = namespace
	return h
}

func run(program string, args ...string) error {
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

// Addr is the host's address.
func (h *Host) Addr() string { return h.addr }

// Dial connects from the host to a numeric address.
func (h *Host) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var conn net.Conn
	err := h.inside(func() (err error) {
		// With one numeric address all is done on this thread.
		conn, err = new(net.Dialer).DialContext(ctx, network, addr)
		return err
	})
	return conn, err
}

// inside calls f on a thread whose network is the host's.
func (h *Host) inside(f func() error) error {
	done := make(chan error)
	go func() {
		// Not unlocked when the way back fails: the thread ends with the goroutine.
		runtime.LockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			done <- err
			return
		}
		defer func() { _ = own.Close() }()
		if err := unix.Setns(int(h.namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- fmt.Errorf("enter host %s: %w", h.name, err)
			return
		}
		err = f()
		if unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// Filter adds a rule to the host's packet filter, "INPUT -s 10.99.0.2 -j DROP".
func (h *Host) Filter(t testing.TB, rule string) {
	t.Helper()
	h.iptables(t, append([]string{"-A"}, strings.Fields(rule)...)...)
}

// CutFrom drops all packets to and from another host.
func (h *Host) CutFrom(t testing.TB, other *Host) {
	t.Helper()
	h.Filter(t, "INPUT -s "+other.addr+" -j DROP")
	h.Filter(t, "OUTPUT -d "+other.addr+" -j DROP")
}

// Unfilter removes all rules.
func (h *Host) Unfilter(t testing.TB) {
	t.Helper()
	h.iptables(t, "-F")
}

func (h *Host) iptables(t testing.TB, args ...string) {
	t.Helper()
	// A process begins in the network of the thread that starts it.
	if err := h.inside(func() error { return run("iptables", append([]string{"-w"}, args...)...) }); err != nil {
		t.Fatalf("filter packets: %v", err)
	}
}

// place is where a server runs that is to run on the host.
func (h *Host) place() zkserver.Place {
	return zkserver.Place{
		Addr: h.addr, Dial: h.Dial,
		Command: func(path string, args ...string) *exec.Cmd {
			// ip becomes the program: their process ids are the same.
			return exec.Command("ip", append([]string{"netns", "exec", h.name, path}, args...)...)
		},
	}
}
