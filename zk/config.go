package zk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// Auth is a credential that each connection presents: for the scheme "digest" a
// text "user:password".
type Auth struct {
	Scheme string
	Data   []byte
}

// Digest is the credential of a user with a password.
func Digest(user, password string) Auth { return Auth{"digest", []byte(user + ":" + password)} }

// String hides the credential.
func (a Auth) String() string { return a.Scheme + ":***" }

// GoString hides the credential.
func (a Auth) GoString() string { return a.String() }

// Config is a client's. Only Servers has no default.
type Config struct {
	// Servers are "host:port", or "host" for port 2181. Names are resolved again
	// whenever all addresses were tried.
	Servers []string
	// Chroot is a path that all others are below; "" and "/" are the store's root.
	// EnsurePath("/") makes it.
	Chroot string
	// SessionTimeout is how long the store keeps a session it does not hear of, 10 s
	// by default. The store may decide otherwise; [Session.Timeout] says how.
	SessionTimeout time.Duration
	// ConnectTimeout bounds the attempt to get a session from one server, with all
	// that belongs to it: 800 ms by default, 3 s with TLS. It is twice as long after
	// each round over all servers, up to eight times, and never above half the session
	// timeout.
	ConnectTimeout time.Duration
	// Auth are the credentials of each connection.
	Auth []Auth
	// ACL is the access list of the nodes that are created without another;
	// [OpenACL] by default.
	ACL []ACL
	// TLS, when it is not nil, is how each connection is secured. Its ServerName is
	// the host as in Servers when it has none.
	TLS *tls.Config
	// RenewedByOwner says that whoever has a session renews it by [Session.Renew], and
	// that the session does not by itself. Trust is reckoned alike.
	RenewedByOwner bool
	// Resync is how often whoever watches a node reads it again although nothing
	// was reported, 1 min by default.
	Resync time.Duration
	// MaxPacket is what one request may take, 1 MiB less 1 KiB by default: a
	// server ends the connection on what is larger than its jute.maxbuffer.
	MaxPacket int
	// OnState is told, on a goroutine of its own, what has become of the client. It
	// may block: states that have passed in the meantime are left out, the present
	// one never is.
	OnState func(State)
	// Dial, Lookup and Clock stand in for the network's, the resolver's and the
	// machine's.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Lookup func(ctx context.Context, host string) ([]string, error)
	Clock  Clock
	// Logger is told of sessions and connections; nil keeps silent.
	Logger *slog.Logger
}

const (
	defaultSessionTimeout    = 10 * time.Second
	defaultConnectTimeout    = 800 * time.Millisecond
	defaultTLSConnectTimeout = 3 * time.Second
	defaultResync            = time.Minute
	defaultMaxPacket         = 1<<20 - 1<<10
	// largestPacket fits into the library's buffer.
	largestPacket     = 1 << 20
	minSessionTimeout = 100 * time.Millisecond
	defaultPort       = "2181"
)

// WithDefaults returns c with what is not set filled in.
func (c Config) WithDefaults() Config {
	servers := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		servers[i] = withPort(strings.TrimSpace(s))
	}
	c.Servers = servers
	if c.Chroot == "/" {
		c.Chroot = ""
	}
	setDefault(&c.SessionTimeout, defaultSessionTimeout)
	if c.TLS != nil {
		setDefault(&c.ConnectTimeout, defaultTLSConnectTimeout)
	}
	setDefault(&c.ConnectTimeout, defaultConnectTimeout)
	setDefault(&c.Resync, defaultResync)
	setDefault(&c.MaxPacket, defaultMaxPacket)
	if c.ACL == nil {
		c.ACL = OpenACL()
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	if c.Lookup == nil {
		c.Lookup = net.DefaultResolver.LookupHost
	}
	if c.Clock == nil {
		c.Clock = systemClock()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func setDefault[T int | time.Duration](value *T, to T) {
	if *value == 0 {
		*value = to
	}
}

// withPort adds ZooKeeper's port to a server without one.
func withPort(server string) string {
	if _, _, err := net.SplitHostPort(server); err == nil || server == "" {
		return server
	}
	return net.JoinHostPort(strings.Trim(server, "[]"), defaultPort)
}

// Validate reports all that is wrong with c at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("zk: "+format, args...)) }
	if len(c.Servers) == 0 {
		bad("no servers: name at least one, as host:port")
	}
	for _, s := range c.Servers {
		host, port, err := net.SplitHostPort(s)
		if err != nil || host == "" || port == "" {
			bad("server %q is not host:port", s)
		}
	}
	if c.Chroot != "" && (!strings.HasPrefix(c.Chroot, "/") || strings.HasSuffix(c.Chroot, "/") || strings.Contains(c.Chroot, "//")) {
		bad("chroot %q must start with a slash, and have none at its end or twice in a row", c.Chroot)
	}
	if c.SessionTimeout < minSessionTimeout {
		bad("session timeout %s is below %s", c.SessionTimeout, minSessionTimeout)
	}
	if c.ConnectTimeout < 0 || c.Resync < 0 || c.MaxPacket < 0 {
		bad("times and sizes must not be negative")
	}
	if c.MaxPacket > largestPacket {
		bad("the largest packet of %d bytes is above %d", c.MaxPacket, largestPacket)
	}
	for _, a := range c.Auth {
		if a.Scheme == "" {
			bad("a credential has no scheme, such as digest")
		}
		if a.Scheme == "digest" && !strings.Contains(string(a.Data), ":") {
			bad("the digest credential must be user:password")
		}
	}
	return errors.Join(errs...)
}

// connectWithin bounds one attempt to get a session, after some rounds over all
// servers: a store that is slow as a whole is given more time than a single server,
// as long as the session is of use then.
func (c *Config) connectWithin(rounds int) time.Duration {
	return min(c.ConnectTimeout<<min(rounds, 3), c.SessionTimeout/2)
}
