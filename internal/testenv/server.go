package testenv

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/leatdata/leat/internal/testenv/child"
)

// server is a private database server on a free loopback port, with its data
// in a temporary folder: what those of all kinds have.
type server struct {
	// kind is its name for people, and folder that of its files.
	kind, folder string
	settings     []string
	make         func(context.Context, child.Config) (*child.Server, error)
	ping         func(ctx context.Context, addr string) error

	dir string
	// running is nil until create has made it.
	running *child.Server

	first    sync.Once
	firstErr error
}

// share starts the server at the first call.
func (s *server) share() error {
	s.first.Do(func() { s.firstErr = s.create() })
	return s.firstErr
}

// own starts the server for one test, with which it ends.
func (s *server) own(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("stop %s: %v", s.kind, err)
		}
		if err := os.RemoveAll(s.dir); err != nil {
			t.Errorf("remove the folder of %s: %v", s.kind, err)
		}
	})
	if err := s.create(); err != nil {
		t.Fatalf("start %s: %v", s.kind, err)
	}
}

// create makes the data folder and starts the server for the first time.
func (s *server) create() (err error) {
	if s.dir, err = shared.folder(s.folder); err != nil {
		return err
	}
	template, err := shared.template(s.folder)
	if err != nil {
		return err
	}
	s.running, err = s.make(context.Background(), child.Config{Dir: s.dir, Template: template, Settings: s.settings, Ping: s.ping})
	return err
}

// stop ends the server at once, as a crash of its processes would; it may be
// called again.
func (s *server) stop() error {
	if s.running == nil {
		return nil
	}
	return s.running.Stop()
}

// Stop ends the server at once, with no goodbye to its clients.
func (s *server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatalf("stop %s: %v", s.kind, err)
	}
}

// Start starts a stopped server again, on the same port and data, and returns
// once it answers.
func (s *server) Start(t testing.TB) {
	t.Helper()
	if err := s.running.Start(t.Context()); err != nil {
		t.Fatalf("start %s again: %v", s.kind, err)
	}
}

// Restart is Stop and Start: every session is lost, what was committed is not.
func (s *server) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

// Addr is the server's host:port, for a [Proxy] in front of it.
func (s *server) Addr() string { return s.running.Addr() }

// Pid is the server's process id, the parent of all its processes.
func (s *server) Pid() int { return s.running.Pid() }

// Log is what the server has written to its log.
func (s *server) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(s.running.LogFile())
	if err != nil {
		t.Fatalf("read the log of %s: %v", s.kind, err)
	}
	return string(text)
}

// lines joins the values of each row with bars.
func lines(rows [][]string) []string {
	var joined []string
	for _, row := range rows {
		joined = append(joined, strings.Join(row, "|"))
	}
	return joined
}

// expectLines compares the lines of a query.
func expectLines(t testing.TB, query string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n got %q\nwant %q", query, got, want)
	}
}
