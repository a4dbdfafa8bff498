package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leatdata/leat/internal/testenv/child"
	"github.com/leatdata/leat/internal/testenv/zkserver"
)

// patience bounds the wait for a leader.
const patience = time.Minute

type meter struct {
	dir      string
	timeout  time.Duration
	ensemble *zkserver.Ensemble
	progress io.Writer
}

func (m *meter) servers() string {
	var addrs []string
	for _, member := range m.ensemble.Members() {
		addrs = append(addrs, member.Addr())
	}
	return strings.Join(addrs, ",")
}

// group is three processes of one kind that compete.
type group struct {
	name    string
	command func(name string) *exec.Cmd
	members []*member
	// leading is the one that leads.
	leading *member
	// told is what members have said.
	told chan said
}

type member struct {
	name  string
	child *child.Child
	stdin *os.File
}

type said struct {
	who  *member
	line string
}

// groups are ours and Curator's.
func (m *meter) groups(ctx context.Context) ([]*group, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	storage := filepath.Join(m.dir, "storage")
	ours := func(role string) func(string) *exec.Cmd {
		return func(name string) *exec.Cmd {
			return exec.Command(self, "-role", role, "-servers", m.servers(), "-name", name, "-storage", storage, "-timeout", m.timeout.String())
		}
	}
	curator, err := m.curator(ctx)
	if err != nil {
		return nil, err
	}
	return []*group{
		{name: "Curator LeaderLatch", command: curator},
		{name: "leat zk.Leader", command: ours("zk")},
		{name: "leat ha/zookeeper", command: ours("ha")},
	}, nil
}

// curator compiles its contender, and returns how it is run.
func (m *meter) curator(ctx context.Context) (func(string) *exec.Cmd, error) {
	const folder = "/usr/share/java/"
	// ZooKeeper's names the archives that it needs itself.
	path := []string{m.dir}
	for _, jar := range []string{"curator-recipes", "curator-framework", "curator-client", "zookeeper", "guava", "slf4j-nop"} {
		path = append(path, folder+jar+".jar")
	}
	classes := strings.Join(path, string(filepath.ListSeparator))
	compile := exec.CommandContext(ctx, "javac", "-cp", classes, "-d", m.dir, "Contender.java")
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile Curator's contender: %w\n%s", err, out)
	}
	timeout := strconv.FormatInt(m.timeout.Milliseconds(), 10)
	return func(name string) *exec.Cmd {
		return exec.Command("java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes, "Contender", m.servers(), timeout, name)
	}, nil
}

// elections measures all groups, in turn within each round.
func (m *meter) elections(ctx context.Context, rounds int) (*table, error) {
	groups, err := m.groups(ctx)
	if err != nil {
		return nil, err
	}
	t := &table{rounds: rounds, timeout: m.timeout}
	for _, g := range groups {
		defer g.end()
		if err := g.begin(); err != nil {
			return nil, fmt.Errorf("start %s: %w", g.name, err)
		}
	}
	for round := range rounds {
		for _, end := range []string{killed, graceful} {
			for _, g := range groups {
				took, err := g.measure(end, m.timeout)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", g.name, end, err)
				}
				t.add(end, g.name, took)
				fmt.Fprintf(m.progress, "%d/%d %s %s: %s\n", round+1, rounds, g.name, end, took)
			}
		}
	}
	return t, nil
}

// begin starts the members, and waits for the first leader.
func (g *group) begin() (err error) {
	g.told = make(chan said, 64)
	for i := range 3 {
		if err := g.start(fmt.Sprintf("m%d", i)); err != nil {
			return err
		}
	}
	g.leading, _, err = g.leader(nil)
	return err
}

// end ends all members.
func (g *group) end() {
	for _, m := range g.members {
		_ = m.stdin.Close()
		_ = m.child.Signal(syscall.SIGKILL)
		<-m.child.Done
	}
}

// start starts a member, and returns when it competes.
func (g *group) start(name string) error {
	cmd := g.command(name)
	stdin, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = stdin.Close() }()
	read, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = stdout.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, os.Stderr
	running, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	who := &member{name: name, child: running, stdin: write}
	g.members = append(g.members, who)
	var up sync.WaitGroup
	up.Add(1)
	go func() {
		defer func() { _ = read.Close() }()
		for lines := bufio.NewScanner(read); lines.Scan(); {
			if lines.Text() == "up" {
				up.Done()
				continue
			}
			g.told <- said{who, lines.Text()}
		}
	}()
	up.Wait()
	return nil
}

// leader waits for the next one to say that it leads, other than one.
func (g *group) leader(not *member) (*member, time.Time, error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case s := <-g.told:
			if at, ok := strings.CutPrefix(s.line, "lead "); ok && s.who != not {
				nanos, err := strconv.ParseInt(at, 10, 64)
				return s.who, time.Unix(0, nanos), err
			}
		case <-limit.C:
			return nil, time.Time{}, errors.New("nobody leads")
		}
	}
}

// measure ends the leader, and starts another member in its place afterwards.
func (g *group) measure(way string, timeout time.Duration) (time.Duration, error) {
	// All are connected and watch; the renewals are at any phase.
	pause(timeout + rand.N(timeout/3))
	old := g.leading
	ended := time.Now()
	if way == killed {
		_ = old.child.Signal(syscall.SIGKILL)
	}
	_ = old.stdin.Close()
	next, at, err := g.leader(old)
	if err != nil {
		return 0, err
	}
	<-old.child.Done
	g.leading = next
	g.members = slices.DeleteFunc(g.members, func(m *member) bool { return m == old })
	return at.Sub(ended), g.start(old.name)
}

// The ways of a leader's end.
const (
	killed   = "kill -9"
	graceful = "graceful exit"
)

func pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
