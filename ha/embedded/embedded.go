// Package embedded is high availability within one process: for local runs, for
// several nodes in one test process, and, with a folder, for processes of one
// machine that take turns. It keeps every rule that the real stores keep: epochs
// only grow, writes are fenced, a session that is not renewed ends.
//
// In memory, services that share a [Server] see one store. With a folder the
// store is a file, replaced whole by each write, and locked while a process uses
// it: another one that competes joins when the first has gone.
package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/ha/internal/memstore"
	"github.com/leatdata/leat/ha/internal/services"
	"github.com/leatdata/leat/internal/storage"
)

// Server is a store that several services of one process share. The zero value
// is ready.
type Server struct {
	mu    sync.Mutex
	store *memstore.Server
	blobs ha.Blobs
}

// Factory makes services on the server. The first configuration decides: with a
// StorageDir, everything is in that folder.
func (s *Server) Factory(_ context.Context, cfg ha.Config) (ha.Services, error) {
	cfg = cfg.WithDefaults()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		s.store, s.blobs = open(cfg)
	}
	made := s.services(cfg, s.store.Client())
	if cfg.StorageDir == "" {
		return made, nil
	}
	return &onDisk{Services: made, store: s.store}, nil
}

// onDisk are services on a folder that other processes use too.
type onDisk struct {
	*services.Services
	store *memstore.Server
}

// Status implements ha.Services. While another process has the folder, that is
// taken for the leader: whoever has it leads, or is about to. Others that wait for
// it are not known.
func (s *onDisk) Status(ctx context.Context) (ha.Status, error) {
	last, elsewhere, err := s.store.Elsewhere()
	if err != nil {
		return ha.Status{}, fmt.Errorf("ask who leads: %w", err)
	}
	if !elsewhere {
		return s.Services.Status(ctx)
	}
	status := ha.Status{Held: true, Epoch: last.Number, Grant: last.Grant, Holder: last.Name, Since: last.Since}
	if last.Name != "" {
		status.Contenders = []string{last.Name}
	}
	return status, nil
}

// services has Go's own clock: the store is in the same process, and its timers
// stand still with ours.
func (s *Server) services(cfg ha.Config, client *memstore.Client) *services.Services {
	return services.New(services.Config{Config: cfg, Store: client, Blobs: s.blobs, Clock: election.Monotonic()})
}

// New makes services on a store of their own.
func New(ctx context.Context, cfg ha.Config) (ha.Services, error) {
	return new(Server).Factory(ctx, cfg)
}

func open(cfg ha.Config) (*memstore.Server, ha.Blobs) {
	margin := max(cfg.SessionTimeout/10, 10*time.Millisecond)
	if cfg.StorageDir == "" {
		return memstore.New(cfg.SessionTimeout, margin, nil), memstore.NewBlobs()
	}
	dir := filepath.Join(cfg.StorageDir, "store", pathOf(cfg.ClusterID))
	disk := memstore.NewFolder(storage.Local{}, dir, nil)
	blobs := filepath.Join(cfg.StorageDir, "blobs", pathOf(cfg.ClusterID))
	return memstore.New(cfg.SessionTimeout, margin, disk), blobdir.New(storage.Local{}, blobs)
}

// pathOf makes a cluster id, such as "/prod/a", a path below a folder.
func pathOf(clusterID string) string {
	var names []string
	for name := range strings.SplitSeq(clusterID, "/") {
		if name != "" {
			names = append(names, coord.Escape(name))
		}
	}
	return filepath.Join(names...)
}
