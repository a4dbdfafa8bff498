package elect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// T in the tests: one that is waited for, and one that a busy machine does not reach,
// so that what happens before it does not happen because of it.
const (
	shortTimeout = 2 * time.Second
	longTimeout  = 120 * time.Second
)

// patience bounds each wait: it is past any time that is asserted.
const patience = 3 * time.Minute

// script is what is run. Its processes, also those that have left its group, hold a
// file's lock: a run that finds it held says "two". $ON_TERM is what it does on TERM.
const script = `
exec 9>"$RIG/held"
if flock -n 9; then word=start; else word=two; fi
trap 'echo "term $LEAT_EPOCH $WHO" >>"$RIG/history"; ON_TERM' TERM
setsid sleep 1000 &
echo "$word $LEAT_EPOCH $WHO $LEAT_LOCK" >>"$RIG/history"
while :; do sleep 1001 & wait $!; done
`

// stubborn is a script that has to be killed.
func stubborn() []string { return []string{"sh", "-c", strings.ReplaceAll(script, "ON_TERM", ":")} }

// obedient is one that ends with a code on TERM.
func obedient(code int) []string {
	return []string{"sh", "-c", strings.ReplaceAll(script, "ON_TERM", "exit "+strconv.Itoa(code))}
}

// rig is a lock that processes compete for, and what their commands have written.
type rig struct {
	t       *testing.T
	dir     string
	store   string // its scheme; embedded: it has no servers
	servers []string
	root    string
	timeout time.Duration
}

func newRig(t *testing.T, timeout time.Duration) *rig {
	e := testenv.ZooKeeper(t)
	return &rig{t: t, dir: t.TempDir(), store: "zookeeper", servers: e.Addrs(), root: e.Root(), timeout: timeout}
}

// newEtcdRig is on etcd.
func newEtcdRig(t *testing.T, timeout time.Duration) *rig {
	c := testenv.Etcd(t)
	return &rig{t: t, dir: t.TempDir(), store: "etcd", servers: c.Addrs(), root: c.Root(), timeout: timeout}
}

// newEmbeddedRig competes by a folder.
func newEmbeddedRig(t *testing.T) *rig {
	return &rig{t: t, dir: t.TempDir(), store: "embedded", timeout: longTimeout}
}

// contender is one leat elect, behind proxies of its own.
type contender struct {
	*testenv.Process
	rig     *rig
	name    string
	proxies []*testenv.Proxy
	addrs   []string // of other ways to the store
}

func (r *rig) arguments(addrs []string, args ...string) []string {
	store := r.store
	if len(addrs) > 0 {
		store += "://" + strings.Join(addrs, ",") + r.root
	}
	return append([]string{"elect", "--lock", "db", "--store", store, "--log-level", "debug"}, args...)
}

func (r *rig) command(name string, args []string) testenv.Command {
	dir := filepath.Join(r.dir, name)
	if r.store == "embedded" {
		dir = filepath.Join(r.dir, "shared")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	return testenv.Command{
		Path: testenv.Leat(r.t), Args: args, Dir: dir,
		Env: []string{
			"RIG=" + r.dir, "WHO=" + name,
			"LEAT_HIGH_AVAILABILITY_ZOOKEEPER_CLIENT_SESSION_TIMEOUT=" + r.timeout.String(),
			"LEAT_HIGH_AVAILABILITY_ETCD_CLIENT_SESSION_TIMEOUT=" + r.timeout.String(),
			"LEAT_HIGH_AVAILABILITY_EMBEDDED_SESSION_TIMEOUT=" + r.timeout.String(),
		},
	}
}

// start starts a contender with more flags and a command.
func (r *rig) start(name string, command []string, flags ...string) *contender {
	r.t.Helper()
	c := &contender{rig: r, name: name}
	for _, addr := range r.servers {
		if r.store == "zookeeper" {
			c.proxies = append(c.proxies, testenv.NewZooKeeperProxy(r.t, addr))
		} else {
			c.proxies = append(c.proxies, testenv.NewProxy(r.t, addr))
		}
	}
	c.begin(command, flags...)
	return c
}

// begin starts the process, again when it has ended.
func (c *contender) begin(command []string, flags ...string) {
	c.rig.t.Helper()
	addrs := slices.Clone(c.addrs)
	for _, p := range c.proxies {
		addrs = append(addrs, p.Addr())
	}
	flags = append(append([]string{"--name", c.name}, flags...), "--")
	args := c.rig.arguments(addrs, append(flags, command...)...)
	c.Process = testenv.StartProcess(c.rig.t, c.rig.command(c.name, args))
}

// cut withholds everything between the process and the store.
func (c *contender) cut(on bool) {
	for _, p := range c.proxies {
		p.BlackHole(on)
	}
}

// watcher is the id of the watcher's process; 0: there is none.
func (c *contender) watcher() int {
	for _, pid := range descendants(c.Pid(), 0) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(text), WatcherCommand) {
			return pid
		}
	}
	return 0
}

// signalWatcher sends the watcher a signal, if there is one: whoever has just been
// started, or is slow, may have lost it.
func (c *contender) signalWatcher(s syscall.Signal) {
	c.rig.t.Helper()
	pid := c.watcher()
	if pid == 0 {
		return // to 0 it would be for ourselves
	}
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		c.rig.t.Error(err)
	}
}

// entry is what a command has written.
type entry struct {
	word  string
	epoch int
	who   string
}

func (r *rig) history() []entry {
	text, err := os.ReadFile(filepath.Join(r.dir, "history"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	var entries []entry
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		epoch, err := strconv.Atoi(fields[1])
		if err != nil {
			r.t.Fatalf("the history has the line %q", line)
		}
		entries = append(entries, entry{fields[0], epoch, fields[2]})
	}
	return entries
}

// await waits for something that is looked for again and again.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// awaitStart waits until a contender's command is started, beyond those that were.
func (r *rig) awaitStart(who string, before int) entry {
	r.t.Helper()
	var found entry
	await(r.t, who+" runs its command", func() bool {
		all := r.history()
		i := slices.IndexFunc(all[min(before, len(all)):], func(e entry) bool {
			return e.word != "term" && (who == "" || e.who == who)
		})
		if i >= 0 {
			found = all[before+i]
		}
		return i >= 0
	})
	return found
}

// after is how many entries there are up to one.
func (r *rig) after(e entry) int { return slices.Index(r.history(), e) + 1 }

// awaitNothing waits until no process of any command is left.
func (r *rig) awaitNothing() {
	r.t.Helper()
	f, err := os.OpenFile(filepath.Join(r.dir, "held"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	await(r.t, "all of the command is dead", func() bool {
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	})
}

// check holds what always has to: never two, and epochs that grow.
func (r *rig) check() {
	r.t.Helper()
	last := entry{}
	for _, e := range r.history() {
		switch {
		case e.word == "two":
			r.t.Errorf("the command of %s, epoch %d, began while another one ran", e.who, e.epoch)
		case e.word == "start" && e.epoch <= last.epoch:
			r.t.Errorf("epoch %d of %s follows epoch %d of %s", e.epoch, e.who, last.epoch, last.who)
		}
		if e.word == "start" {
			last = e
		}
	}
	if r.t.Failed() {
		r.t.Logf("the history: %v", r.history())
	}
}

// elapse lets time pass, for faults that last.
func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// soon fails when something that must not wait for a session's end did.
func (r *rig) soon(what string, since time.Time) {
	r.t.Helper()
	if took := time.Since(since); took > r.timeout/2 {
		r.t.Errorf("%s took %s, with a session timeout of %s", what, took, r.timeout)
	}
}
