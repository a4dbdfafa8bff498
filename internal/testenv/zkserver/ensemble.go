package zkserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/internal/testenv/child"
)

// serveTimeout bounds the waits for an ensemble to serve, on a busy machine too.
const serveTimeout = 90 * time.Second

// Config says what to make.
type Config struct {
	// Dir is an empty folder for the data and logs.
	Dir string
	// Members is how many servers: 1 stands alone, 3 make an ensemble.
	Members int
	// Tick is the servers' unit of time, 200 ms by default: sessions time out at
	// two of them at the earliest, a follower without its leader gives up after
	// ten.
	Tick time.Duration
	// TLS adds a port to each server that speaks only TLS.
	TLS *TLS
	// Settings are more lines for the servers' configuration, "maxClientCnxns=5".
	Settings []string
	// Places are where the members run, one for each; without any, here.
	Places []Place
}

// Place is a host of its own for a server.
type Place struct {
	// Addr is the host's address.
	Addr string
	// Command makes a command that runs there, and Dial connects from there.
	Command func(path string, args ...string) *exec.Cmd
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
}

// here is our own host.
func here() Place {
	return Place{Addr: "127.0.0.1", Command: exec.Command, Dial: new(net.Dialer).DialContext}
}

// TLS names the PEM files of a server: its own key (PKCS 8) and certificate in
// one, and the authorities it trusts. Its clients need a certificate too.
type TLS struct{ KeyStore, TrustStore string }

// Ensemble is some servers that make one store.
type Ensemble struct {
	members []*Member
}

// Create makes the servers' data, starts them and returns once they serve.
func Create(ctx context.Context, cfg Config) (*Ensemble, error) {
	p, err := find()
	if err != nil {
		return nil, err
	}
	if cfg.Tick == 0 {
		cfg.Tick = 200 * time.Millisecond
	}
	// Between finding free ports and their use another process may take one.
	for attempt := range 5 {
		var e *Ensemble
		if e, err = build(p, cfg, attempt); err != nil {
			return nil, err
		}
		if err = e.start(ctx); err == nil {
			return e, nil
		}
		err = errors.Join(err, e.Stop())
	}
	return nil, err
}

// build lays out the folders of the servers.
func build(p programs, cfg Config, attempt int) (*Ensemble, error) {
	e := &Ensemble{}
	var peers []string
	for i := range cfg.Members {
		ports, err := freePorts(4)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(cfg.Dir, fmt.Sprintf("%d-%d", attempt, i+1))
		place := here()
		if len(cfg.Places) > 0 {
			place = cfg.Places[i]
		}
		e.members = append(e.members, newMember(p, place, dir, ports, cfg.TLS != nil))
		peers = append(peers, fmt.Sprintf("server.%d=%s:%d:%d", i+1, place.Addr, ports[2], ports[3]))
	}
	for i, m := range e.members {
		if err := m.write(i+1, cfg, peers); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// freePorts returns n different ports.
func freePorts(n int) ([]int, error) {
	var ports []int
	seen := map[int]bool{}
	for len(ports) < n {
		port, err := child.FreePort()
		if err != nil {
			return nil, err
		}
		if !seen[port] {
			seen[port] = true
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// start starts all at once: none serves before most of them run.
func (e *Ensemble) start(ctx context.Context) error {
	errs := make([]error, len(e.members))
	var all sync.WaitGroup
	for i, m := range e.members {
		all.Go(func() { errs[i] = m.Start(ctx) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return e.AwaitServing(ctx)
}

// AwaitServing returns once every member that runs serves clients.
func (e *Ensemble) AwaitServing(ctx context.Context) error {
	for _, m := range e.members {
		if m.Runs() {
			if err := m.AwaitServing(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Members are the servers, in the order of their numbers.
func (e *Ensemble) Members() []*Member { return e.members }

// Stop ends all of them at once; it may be called again.
func (e *Ensemble) Stop() error {
	var errs []error
	for _, m := range e.members {
		errs = append(errs, m.Kill())
	}
	return errors.Join(errs...)
}

// write makes the folder of a member.
func (m *Member) write(number int, cfg Config, peers []string) error {
	if err := os.MkdirAll(m.data(), 0o700); err != nil {
		return fmt.Errorf("make ZooKeeper's folder: %w", err)
	}
	ticks := strconv.FormatInt(cfg.Tick.Milliseconds(), 10)
	lines := []string{
		"tickTime=" + ticks, "initLimit=50", "syncLimit=10", "minSessionTimeout=" + strconv.FormatInt(2*cfg.Tick.Milliseconds(), 10),
		"maxSessionTimeout=120000", "maxClientCnxns=0", "dataDir=" + m.data(),
		"clientPort=" + strconv.Itoa(m.port), "clientPortAddress=" + m.place.Addr,
		"admin.enableServer=false", "4lw.commands.whitelist=*", "extendedTypesEnabled=true",
	}
	if cfg.TLS != nil {
		lines = append(lines,
			"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
			"secureClientPort="+strconv.Itoa(m.securePort), "secureClientPortAddress="+m.place.Addr,
			"ssl.keyStore.location="+cfg.TLS.KeyStore, "ssl.trustStore.location="+cfg.TLS.TrustStore)
	}
	if len(peers) > 1 {
		lines = append(lines, "standaloneEnabled=false")
		lines = append(lines, peers...)
	}
	lines = append(lines, cfg.Settings...)
	if err := os.WriteFile(m.configFile(), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("write ZooKeeper's configuration: %w", err)
	}
	if err := os.WriteFile(filepath.Join(m.data(), "myid"), []byte(strconv.Itoa(number)), 0o600); err != nil {
		return fmt.Errorf("write ZooKeeper's number: %w", err)
	}
	return nil
}
