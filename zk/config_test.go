package zk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	c := Config{Servers: []string{"one", " two:7 ", "[::1]:9", "::1"}, Chroot: "/"}.WithDefaults()
	if want := []string{"one:2181", "two:7", "[::1]:9", "[::1]:2181"}; !slices.Equal(c.Servers, want) {
		t.Errorf("servers are %q, want %q", c.Servers, want)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.Chroot != "" || c.SessionTimeout != 10*time.Second || c.ConnectTimeout != 800*time.Millisecond || !slices.Equal(c.ACL, OpenACL()) {
		t.Errorf("defaults are %+v", c)
	}
	if c := (Config{TLS: &tls.Config{}}).WithDefaults(); c.ConnectTimeout != 3*time.Second {
		t.Errorf("with TLS an attempt may take %s", c.ConnectTimeout)
	}
	for rounds, want := range []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 5 * time.Second, 5 * time.Second} {
		if got := c.connectWithin(rounds); got != want {
			t.Errorf("after %d rounds an attempt may take %s, want %s", rounds, got, want)
		}
	}
}

func TestConfigReportsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	_, err := New(Config{
		Servers: []string{":7", ""}, Chroot: "a//b/", SessionTimeout: time.Millisecond, Resync: -1,
		MaxPacket: 1 << 30, Auth: []Auth{{}, {"digest", []byte("secretword")}},
	})
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{`server ":7"`, `server ""`, "chroot", "session timeout", "negative", "packet", "no scheme", "user:password"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "secretword") {
		t.Errorf("the error shows a secret: %v", err)
	}
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "no servers") {
		t.Errorf("without servers: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", Digest("u", "pw"), Digest("u", "pw"), []Auth{Digest("u", "pw")}); strings.Contains(text, "pw") || strings.Contains(text, "112") {
		t.Errorf("a credential is printed: %s", text)
	}
}

func TestHostsComeInRounds(t *testing.T) {
	t.Parallel()
	fail := map[string]bool{}
	h := &hosts{servers: []string{"a:1", "b:2", "10.0.0.9:3"}, lookup: func(_ context.Context, host string) ([]string, error) {
		if fail[host] {
			return nil, errors.New("no such host")
		}
		return []string{host + ".1", host + ".2"}, nil
	}}
	round := func() []string {
		var got []string
		for {
			target, last, err := h.next(t.Context())
			if err != nil {
				return []string{err.Error()}
			}
			got = append(got, target.name+"="+target.dial)
			if last {
				slices.Sort(got)
				return got
			}
		}
	}
	want := []string{"10.0.0.9=10.0.0.9:3", "a=a.1:1", "a=a.2:1", "b=b.1:2", "b=b.2:2"}
	if got := round(); !slices.Equal(got, want) {
		t.Errorf("a round is %q, want %q", got, want)
	}
	fail["a"] = true
	if got, want := round(), []string{"10.0.0.9=10.0.0.9:3", "b=b.1:2", "b=b.2:2"}; !slices.Equal(got, want) {
		t.Errorf("a round without a is %q, want %q", got, want)
	}
	fail["b"], h.servers = true, h.servers[:2]
	if got := round(); len(got) != 1 || !strings.Contains(got[0], "resolve server a:1") || !strings.Contains(got[0], "server b:2") {
		t.Errorf("a round of none is %q", got)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		root            rooted
		path, full, own string
	}{
		{"", "/", "/", "/"},
		{"", "/a/b", "/a/b", "/a/b"},
		{"/r", "/", "/r", "/"},
		{"/r/s", "/a", "/r/s/a", "/a"},
	} {
		if full := c.root.full(c.path); full != c.full || c.root.own(full) != c.own {
			t.Errorf("%q in %q is %q, want %q; and back %q", c.path, c.root, full, c.full, c.root.own(full))
		}
	}
	for path, want := range map[string][2]string{"/a": {"/", "a"}, "/a/b/c": {"/a/b", "c"}} {
		dir, name := split(path)
		if dir != want[0] || name != want[1] || join(dir, name) != path {
			t.Errorf("%s is %s in %s", path, name, dir)
		}
	}
}
