package embedded

import (
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/ha/internal/memstore"
)

// timeout is T in the tests.
const timeout = 2 * time.Second

func TestContractInMemory(t *testing.T) {
	hatest.Run(t, hatest.Suite{
		World:  func(t *testing.T) *hatest.World { return world(ha.Config{}) },
		Bubble: synctest.Test,
	})
}

func TestContractOnDisk(t *testing.T) {
	hatest.Run(t, hatest.Suite{
		World:  func(t *testing.T) *hatest.World { return world(ha.Config{StorageDir: t.TempDir()}) },
		Bubble: synctest.Test, Parallel: true,
	})
}

// world is a cluster on one server.
func world(base ha.Config) *hatest.World {
	s := &Server{}
	base.SessionTimeout = timeout
	s.store, s.blobs = open(base.WithDefaults())
	var mu sync.Mutex
	clients := map[string]*memstore.Client{}
	client := func(name string) *memstore.Client {
		mu.Lock()
		defer mu.Unlock()
		if clients[name] == nil {
			clients[name] = s.store.Client()
		}
		return clients[name]
	}
	w := &hatest.World{
		Timeout: timeout, Slack: 10 * time.Millisecond,
		Open: func(_ *testing.T, name string, cfg ha.Config) ha.Services {
			cfg.SessionTimeout, cfg.StorageDir = timeout, base.StorageDir
			return s.services(cfg.WithDefaults(), client(name))
		},
		Cut:       func(name string) { client(name).Cut() },
		Heal:      func(name string) { client(name).Heal() },
		Expire:    func(name string) { client(name).Expire() },
		DropReply: func(name string) { client(name).DropReplies(1) },
		Wipe:      s.store.Wipe,
		Backup: func() func() {
			c := s.store.Copy()
			return func() { s.store.Restore(c) }
		},
		Tamper: func(component string, value []byte) { s.store.Tamper(election.LeaderKey(component), value) },
	}
	w.Corrupt = func(t *testing.T, folder string) {
		blobs, err := s.blobs.List(t.Context(), folder)
		if err != nil || len(blobs) == 0 {
			t.Fatal("nothing to corrupt", err)
		}
		for _, b := range blobs {
			if err := s.blobs.Put(t.Context(), b.Key, []byte("not what was written")); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

func TestClusterIDsArePaths(t *testing.T) {
	for id, want := range map[string]string{
		"/default": "default", "/prod/a": filepath.Join("prod", "a"), "/../x": filepath.Join("%2E.", "x"), "/": "",
	} {
		if got := pathOf(id); got != want {
			t.Errorf("%s is at %s, want %s", id, got, want)
		}
	}
}
