package testenv

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Hosts hear each other until a filter says otherwise; nothing is left of them.
func TestNetworkHostsAreCutAndHealed(t *testing.T) {
	var names []string
	t.Run("network", func(t *testing.T) {
		n := NewNetwork(t)
		a, b := n.Host(t), n.Host(t)
		names = []string{n.name(0), a.name, b.name}
		var listener net.Listener
		if err := b.inside(func() (err error) {
			listener, err = net.Listen("tcp", net.JoinHostPort(b.Addr(), "0"))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		dial := func(h *Host, patience time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			conn, err := h.Dial(ctx, "tcp", listener.Addr().String())
			if err == nil {
				_ = conn.Close()
			}
			return err
		}
		if err := dial(a, waitTimeout); err != nil {
			t.Errorf("a host does not reach another: %v", err)
		}
		a.CutFrom(t, b)
		if late, ok := errors.AsType[net.Error](dial(a, 200*time.Millisecond)); !ok || !late.Timeout() {
			t.Errorf("a host that is cut off reaches another: %v", late)
		}
		a.Unfilter(t)
		if err := dial(a, waitTimeout); err != nil {
			t.Errorf("a host does not reach another that was cut off: %v", err)
		}
		// Our own network is another.
		if conn, err := net.DialTimeout("tcp", listener.Addr().String(), 200*time.Millisecond); err == nil {
			_ = conn.Close()
			t.Error("the machine itself reaches a host")
		}
	})
	for _, name := range names {
		if _, err := os.Stat("/run/netns/" + name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

// What a killed test binary has left is removed by the next.
func TestNamespacesOfTheDeadAreRemoved(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	name := namespacePrefix + strconv.Itoa(gone.Process.Pid) + "-1-0"
	if err := run("ip", "netns", "add", name); err != nil {
		t.Fatal(err)
	}
	NewNetwork(t)
	left, err := filepath.Glob("/run/netns/" + name)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
