package elect

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/zk"
)

func TestWrongUse(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	touch(t, file)
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"no lock":      {[]string{"--store", "embedded", "--", "true"}, 2, []string{"--lock NAME"}},
		"bad lock":     {[]string{"--lock", "a/b", "--store", "embedded", "--", "true"}, 2, []string{`"a/b"`, "letters"}},
		"no command":   {[]string{"--lock", "a", "--store", "embedded"}, 2, []string{"there is no command", "--"}},
		"no store":     {[]string{"--lock", "a", "--", "true"}, 2, []string{"--store zookeeper://"}},
		"odd store":    {[]string{"--lock", "a", "--store", "consul://h", "--", "true"}, 2, []string{"consul://", "etcd://"}},
		"no scheme":    {[]string{"--lock", "a", "--store", "h:2181", "--", "true"}, 2, []string{`"h:2181"`, "zookeeper://"}},
		"no host":      {[]string{"--lock", "a", "--store", "zookeeper:///x", "--", "true"}, 2, []string{"HOST:PORT"}},
		"odd port":     {[]string{"--lock", "a", "--store", "zookeeper://h:1:2", "--", "true"}, 2, []string{"h:1:2"}},
		"query":        {[]string{"--lock", "a", "--store", "zookeeper://h/x?a=b", "--", "true"}, 2, []string{"--set"}},
		"unknown key":  {[]string{"--lock", "a", "--store", "embedded", "--set", "high-availability.typ=x", "--", "true"}, 2, []string{"did you mean high-availability.type"}},
		"folder":       {[]string{"--lock", "a", "--store", "embedded", "--dir", file, "--", "true"}, 1, []string{file, "--dir"}},
		"status, run":  {[]string{"--lock", "a", "--store", "embedded", "--status", "--", "true"}, 2, []string{"--status"}},
		"json alone":   {[]string{"--lock", "a", "--store", "embedded", "--json", "--", "true"}, 2, []string{"--json"}},
		"grace":        {[]string{"--lock", "a", "--store", "embedded", "--grace", "-1s", "--", "true"}, 2, []string{"negative"}},
		"no such type": {[]string{"--lock", "a", "--set", "high-availability.type=nonsense", "--", "true"}, 2, []string{`"nonsense"`, "embedded, ", "zookeeper"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, exit := testenv.RunProcess(t, testenv.Command{
				Path: testenv.Leat(t), Args: append([]string{"elect"}, c.args...), Dir: t.TempDir(),
			})
			if exit.Code != c.code {
				t.Errorf("exit %+v, want %d", exit, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(p.Stderr(), want) {
					t.Errorf("no %q in:\n%s", want, p.Stderr())
				}
			}
		})
	}
}

// The status names the servers that do not answer, and does not wait for ever.
func TestStatusOfAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	p, exit := testenv.RunProcess(t, testenv.Command{
		Path: testenv.Leat(t), Dir: t.TempDir(),
		Args: []string{
			"elect", "--lock", "a", "--store", "zookeeper://" + addr, "--status",
			"--set", "high-availability.zookeeper.client.session-timeout=1s",
		},
	})
	if exit.Code != 1 || !strings.Contains(p.Stderr(), addr) || !strings.Contains(p.Stderr(), "check that the servers in --store") {
		t.Errorf("exit %+v\n%s", exit, p.Stderr())
	}
}

// A store that is away when we start is waited for.
func TestStoreThatComesLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	a := &contender{rig: r, name: "a"}
	for _, addr := range r.servers {
		p := testenv.NewZooKeeperProxy(t, addr)
		p.RefuseNew(true)
		a.proxies = append(a.proxies, p)
	}
	a.begin(obedient(0))
	a.WaitStderr(t, "store unavailable")
	for _, p := range a.proxies {
		p.RefuseNew(false)
	}
	r.awaitStart("a", 0)
}

// A store that refuses us is no store to wait for.
func TestForbiddenPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	admin, err := zk.Open(t.Context(), zk.Config{
		Servers: r.servers, SessionTimeout: time.Minute, ConnectTimeout: 10 * time.Second,
		Auth: []zk.Auth{zk.Digest("owner", "right")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.Create(t.Context(), r.root, nil, zk.Persistent, zk.CreatorACL()...); err != nil {
		t.Fatal(err)
	}
	digest := func(d string) []string { return []string{"--set", "high-availability.zookeeper.client.digest=" + d} }
	for name, flags := range map[string][]string{"nobody": nil, "wrong password": digest("owner:wrong")} {
		p, exit := r.run("a", []string{"true"}, flags...)
		if exit.Code != 1 || !strings.Contains(p.Stderr(), "forbidden") || !strings.Contains(p.Stderr(), "client.digest") {
			t.Errorf("%s: exit %+v\n%s", name, exit, p.Stderr())
		}
		if strings.Contains(p.Stderr(), "owner:wrong") {
			t.Errorf("it tells the password:\n%s", p.Stderr())
		}
	}
	if p, exit := r.run("a", []string{"true"}, digest("owner:right")...); exit.Code != 0 {
		t.Errorf("with the right one: exit %+v\n%s", exit, p.Stderr())
	}
}

// What stands in the epoch's place is not ours: nothing is overwritten.
func TestCorruptEpoch(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	admin, err := zk.Open(t.Context(), zk.Config{
		Servers: r.servers, Chroot: r.root, SessionTimeout: time.Minute, ConnectTimeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.EnsurePath(t.Context(), "/elect/db"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Create(t.Context(), "/elect/db/epoch", []byte("mine"), zk.Persistent); err != nil {
		t.Fatal(err)
	}
	p, exit := r.run("a", []string{"true"})
	if exit.Code != 1 || !strings.Contains(p.Stderr(), "corrupt") || !strings.Contains(p.Stderr(), "another lock") {
		t.Errorf("exit %+v\n%s", exit, p.Stderr())
	}
	if node, err := admin.Get(t.Context(), "/elect/db/epoch"); err != nil || string(node.Data) != "mine" {
		t.Errorf("it holds %q, %v", node.Data, err)
	}
}

// Somebody removes the lock: its holder ends the command at once, and the next epoch
// is a higher one, also when all of the store was removed.
func TestLockIsRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	a := r.start("a", stubborn())
	first := r.awaitStart("a", 0)
	admin, err := zk.Open(t.Context(), zk.Config{
		Servers: r.servers, Chroot: r.root, SessionTimeout: time.Minute, ConnectTimeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	removed := time.Now()
	lock := "/elect/db/leaderlatch"
	names, _, err := admin.Children(t.Context(), lock)
	if err != nil {
		t.Fatal(err)
	}
	ops := []zk.Op{zk.DeleteOp("/elect/db/epoch", zk.AnyVersion)}
	for _, name := range names {
		ops = append(ops, zk.DeleteOp(lock+"/"+name, zk.AnyVersion))
	}
	if _, err := admin.Multi(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	second := r.awaitStart("a", 1)
	r.soon("taking the lock again", removed)
	if second.epoch <= first.epoch {
		t.Errorf("epoch %d after %d: the marks should have told", second.epoch, first.epoch)
	}
	r.check()
	_ = a
}

func TestParseStore(t *testing.T) {
	t.Parallel()
	const ha = "high-availability."
	for text, want := range map[string][]string{
		"embedded":                        {ha + "type=embedded"},
		"zookeeper://h1,h2:2182, h3/a/b/": {ha + "type=zookeeper", ha + "zookeeper.quorum=h1,h2:2182,h3", ha + "zookeeper.path.root=/a/b"},
		"zookeeper://[::1]:2181":          {ha + "type=zookeeper", ha + "zookeeper.quorum=[::1]:2181"},
		"zookeeper://me:a%2Fb@h/x":        {ha + "type=zookeeper", ha + "zookeeper.quorum=h", ha + "zookeeper.path.root=/x", ha + "zookeeper.client.digest=me:a/b"},
		"etcd://me:a:b@h":                 {ha + "type=etcd", ha + "etcd.endpoints=h", ha + "etcd.client.user=me", ha + "etcd.client.password=a:b"},
		"etcd://h1:2379,h2/x":             {ha + "type=etcd", ha + "etcd.endpoints=h1:2379,h2", ha + "etcd.path.root=/x"},
	} {
		if got, err := ParseStore(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

func FuzzParseStore(f *testing.F) {
	f.Add("zookeeper://me:secret@h1,h2:2181/x")
	f.Add("etcd://h?x")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := ParseStore(text)
		if (err == nil) != (len(settings) > 0) {
			t.Errorf("%q: %q, %v", text, settings, err)
		}
		for _, s := range settings {
			if key, _, ok := strings.Cut(s, "="); !ok || !strings.HasPrefix(key, "high-availability.") {
				t.Errorf("%q: %q", text, s)
			}
		}
	})
}
