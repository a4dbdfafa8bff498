package etcdserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/internal/testenv/child"
)

// serveTimeout bounds the waits for a cluster to serve, on a busy machine too.
const serveTimeout = 90 * time.Second

// Config says what to make.
type Config struct {
	// Program is the server.
	Program string
	// Dir is an empty folder for the data and logs.
	Dir string
	// Members is how many servers.
	Members int
	// Heartbeat is between two of the servers' leader, 100 ms by default; ten of them
	// are the election timeout. Leases last for fifteen of them at least.
	Heartbeat time.Duration
	// TLS has clients speak it.
	TLS *TLS
	// Settings are more arguments, "--max-txn-ops=1024".
	Settings []string
}

// TLS names the PEM files of a server: its key, its certificate, and the authorities
// that sign its clients' certificates, which they need.
type TLS struct{ Key, Certificate, Authority string }

// Cluster is some servers that make one store.
type Cluster struct {
	members []*Member
}

// Create makes the servers' folders, starts them and returns once they serve.
func Create(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 100 * time.Millisecond
	}
	// Between finding free ports and their use another process may take one.
	var err error
	for attempt := range 5 {
		var c *Cluster
		if c, err = layOut(cfg, attempt); err != nil {
			return nil, err
		}
		if err = c.start(ctx); err == nil {
			return c, nil
		}
		err = errors.Join(err, c.Stop())
	}
	return nil, err
}

// layOut makes the members and their folders.
func layOut(cfg Config, attempt int) (*Cluster, error) {
	c := &Cluster{}
	var peers []string
	for i := range cfg.Members {
		m := &Member{name: fmt.Sprintf("m%d", i+1), dir: filepath.Join(cfg.Dir, fmt.Sprintf("%d-%d", attempt, i+1))}
		for _, port := range []*int{&m.port, &m.peerPort, &m.healthPort} {
			var err error
			if *port, err = child.FreePort(); err != nil {
				return nil, err
			}
		}
		if err := os.MkdirAll(m.dir, 0o700); err != nil {
			return nil, fmt.Errorf("make etcd's folder: %w", err)
		}
		c.members = append(c.members, m)
		peers = append(peers, m.name+"="+local("http", m.peerPort))
	}
	for _, m := range c.members {
		m.prepare(cfg, strings.Join(peers, ","))
	}
	return c, nil
}

// start starts all at once: none serves before most of them run.
func (c *Cluster) start(ctx context.Context) error {
	errs := make([]error, len(c.members))
	var all sync.WaitGroup
	for i, m := range c.members {
		all.Go(func() { errs[i] = m.Start(ctx) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.AwaitServing(ctx)
}

// AwaitServing returns once every member that runs serves clients.
func (c *Cluster) AwaitServing(ctx context.Context) error {
	for _, m := range c.members {
		if m.Runs() {
			if err := m.AwaitServing(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Members are the servers.
func (c *Cluster) Members() []*Member { return c.members }

// Stop ends all of them at once; it may be called again.
func (c *Cluster) Stop() error {
	var errs []error
	for _, m := range c.members {
		errs = append(errs, m.Kill())
	}
	return errors.Join(errs...)
}
