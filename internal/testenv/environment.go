package testenv

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/leatdata/leat/internal/testenv/child"
)

// shared is what the tests of one binary have in common. Tests do not hand a
// value to each other, so this is the one place of the project with such state.
var shared environment //nolint:gochecknoglobals // see above

// environment starts each shared thing when it is first asked for.
type environment struct {
	mu        sync.Mutex
	scratch   *scratch
	postgres  *PostgresServer
	mariadb   *MariaDBServer
	templates map[string]*child.Template
	zookeeper *ZooKeeperEnsemble
	etcd      *EtcdCluster
	builds    map[string]*build
	// networks numbers them.
	networks atomic.Int64
}

// folder returns a new folder within the scratch folder of this test binary.
func (e *environment) folder(name string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.folderLocked(name)
}

func (e *environment) folderLocked(name string) (string, error) {
	if e.scratch == nil {
		s, err := newScratch()
		if err != nil {
			return "", err
		}
		e.scratch = s
	}
	return e.scratch.folder(name)
}

// template returns the data that servers begin with whose folders have the name.
func (e *environment) template(name string) (*child.Template, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.templates[name]; t != nil {
		return t, nil
	}
	dir, err := e.folderLocked(name + "-template")
	if err != nil {
		return nil, err
	}
	if e.templates == nil {
		e.templates = map[string]*child.Template{}
	}
	t := &child.Template{Dir: dir}
	e.templates[name] = t
	return t, nil
}

// sharedPostgres returns the server that all tests of this binary use.
func (e *environment) sharedPostgres() (*PostgresServer, error) {
	e.mu.Lock()
	server := e.postgres
	if server == nil {
		server = newPostgresServer(nil)
		e.postgres = server
	}
	e.mu.Unlock()
	return server, server.share()
}

// sharedMariaDB returns the server that all tests of this binary use.
func (e *environment) sharedMariaDB() (*MariaDBServer, error) {
	e.mu.Lock()
	server := e.mariadb
	if server == nil {
		server = newMariaDBServer(nil)
		e.mariadb = server
	}
	e.mu.Unlock()
	return server, server.share()
}

// sharedZooKeeper returns the ensemble that all tests of this binary use.
func (e *environment) sharedZooKeeper() (*ZooKeeperEnsemble, error) {
	e.mu.Lock()
	ensemble := e.zookeeper
	if ensemble == nil {
		ensemble = &ZooKeeperEnsemble{}
		e.zookeeper = ensemble
	}
	e.mu.Unlock()
	ensemble.first.Do(func() { ensemble.firstErr = ensemble.create() })
	return ensemble, ensemble.firstErr
}

// sharedEtcd returns the cluster that all tests of this binary use.
func (e *environment) sharedEtcd() (*EtcdCluster, error) {
	e.mu.Lock()
	cluster := e.etcd
	if cluster == nil {
		cluster = &EtcdCluster{}
		e.etcd = cluster
	}
	e.mu.Unlock()
	cluster.first.Do(func() { cluster.firstErr = cluster.create() })
	return cluster, cluster.firstErr
}

// build returns the entry for key, made at the first call.
func (e *environment) build(key string) *build {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.builds == nil {
		e.builds = map[string]*build{}
	}
	b := e.builds[key]
	if b == nil {
		b = &build{}
		e.builds[key] = b
	}
	return b
}

// close ends the shared servers and removes the scratch folder.
func (e *environment) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	if e.postgres != nil {
		errs = append(errs, e.postgres.stop())
	}
	if e.mariadb != nil {
		errs = append(errs, e.mariadb.stop())
	}
	if e.zookeeper != nil {
		errs = append(errs, e.zookeeper.stop())
	}
	if e.etcd != nil {
		errs = append(errs, e.etcd.stop())
	}
	if e.scratch != nil {
		errs = append(errs, e.scratch.close())
	}
	e.postgres, e.mariadb, e.zookeeper, e.etcd, e.scratch, e.templates, e.builds = nil, nil, nil, nil, nil, nil, nil
	return errors.Join(errs...)
}
