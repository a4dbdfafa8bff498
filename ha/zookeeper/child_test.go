package zookeeper

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/internal/testenv"
)

// childVariable holds the configuration of a contender that this test binary is to be.
const childVariable = "LEAT_TEST_CONTENDER"

// childConfig is what a contender in a process of its own is told.
type childConfig struct {
	Name    string
	Quorum  []string
	Root    string
	Storage string
	Timeout time.Duration
}

// child is a contender in a process of its own, which can be stopped in the midst of
// whatever it does.
type child struct {
	t       *testing.T
	process *testenv.Process
	stdin   *os.File
}

func startChild(t *testing.T, cfg childConfig) *child {
	t.Helper()
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stdin, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	c := &child{t: t, stdin: write}
	c.process = testenv.StartProcess(t, testenv.Command{
		Path: self, Env: []string{childVariable + "=" + string(text)}, Stdin: stdin,
	})
	return c
}

// facts are what it has told so far.
func (c *child) facts() []fact { return parseFacts(c.process.Stdout()) }

// leads says that it was granted more often than revoked, as far as it has told.
func (c *child) leads() bool {
	told := c.process.Stdout()
	return strings.Count(told, string(granted)+" ") > strings.Count(told, string(revoked)+" ")
}

// freeze stops it, and thaw lets it go on.
func (c *child) freeze() { c.process.Freeze(c.t) }
func (c *child) thaw()   { c.process.Thaw(c.t) }

// close ends it in an orderly way.
func (c *child) close() {
	c.t.Helper()
	_ = c.stdin.Close()
	if exit := c.process.Wait(c.t); exit.Code != 0 {
		c.t.Errorf("the contender's process ended with %d, %v:\n%s", exit.Code, exit.Signal, c.process.Stderr())
	}
}

// contend is the child: it competes until its standard input ends.
func contend(text string) error {
	var cfg childConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	ctx := context.Background()
	services, err := New(ctx, ha.Config{
		Name: cfg.Name, StorageDir: cfg.Storage, SessionTimeout: cfg.Timeout,
	}, Options{Quorum: cfg.Quorum, Root: cfg.Root})
	if err != nil {
		return err
	}
	w := &writer{services: services, note: func(f fact) { _, _ = os.Stdout.WriteString(f.String()) }}
	c := w.contender()
	if err := services.Election(component).Start(c); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	ctx, cancel := contextFor(2 * time.Minute)
	defer cancel()
	err = services.Close(ctx)
	w.writing.Wait()
	return err
}

// contendIfAsked makes the process a contender if it was started as one.
func contendIfAsked() {
	text := os.Getenv(childVariable)
	if text == "" {
		return
	}
	if err := contend(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// now is the machine's clock, which all processes share.
func now() time.Duration { return election.BootTime().Now() }

// A stopped leader is nobody's leader when it goes on: whatever it was about to write
// is refused, and another has led meanwhile.
func TestFreezeOfALeaderFencesIt(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.ZooKeeper(t), shortTimeout)
	first := c.start(t, "first")
	awaitTrue(t, "the first leads and writes", func() bool { return strings.Count(first.process.Stdout(), string(wrote)+" ") > 3 })
	first.freeze()
	second := c.start(t, "second")
	awaitTrue(t, "the second leads and writes", func() bool { return strings.Count(second.process.Stdout(), string(wrote)+" ") > 3 })
	first.thaw()
	awaitTrue(t, "the first steps down", func() bool { return !first.leads() })
	awaitTrue(t, "its last write is refused", func() bool { return strings.Contains(first.process.Stdout(), string(refused)+" ") })
	first.close()
	second.close()
	h := newHistory()
	for _, f := range append(first.facts(), second.facts()...) {
		h.add(f)
	}
	h.check(t, c.admin)
}

// start starts a contender in a process of its own.
func (c *cluster) start(t *testing.T, name string) *child {
	t.Helper()
	p := c.process(name)
	p.child = startChild(t, childConfig{Name: name, Quorum: p.quorum(), Root: c.root, Storage: c.storage, Timeout: c.timeout})
	return p.child
}

// awaitTrue waits for what nothing tells of.
func awaitTrue(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited too long: %s", what)
		}
	}
}
