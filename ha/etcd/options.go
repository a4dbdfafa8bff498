package etcd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/election"
)

// The keys, below high-availability.
const (
	endpointsKey         = "etcd.endpoints"
	sessionTimeoutKey    = "etcd.client.session-timeout"
	connectionTimeoutKey = "etcd.client.connection-timeout"
	userKey              = "etcd.client.user"
	passwordKey          = "etcd.client.password"
	caKey                = "etcd.client.tls.ca-file"
	certificateKey       = "etcd.client.tls.certificate-file"
	privateKeyKey        = "etcd.client.tls.key-file"
	rootKey              = "etcd.path.root"
)

// Options are what is etcd's own, by their keys below high-availability.
type Options struct {
	// Endpoints is etcd.endpoints: the members, as host:port. All speak TLS if TLS is
	// set.
	Endpoints []string
	// ConnectionTimeout is etcd.client.connection-timeout: how long opening a session
	// may take over all members; 15 s, never above the session timeout.
	ConnectionTimeout time.Duration
	// User and Password are etcd.client.user and etcd.client.password.
	User, Password string
	// TLS is made of etcd.client.tls.ca-file, certificate-file and key-file, in PEM;
	// https:// before the endpoints is TLS with the machine's own authorities.
	TLS *tls.Config
	// Root is etcd.path.root, below which all keys are: /leat.
	Root string
	// Dial and Clock stand in for the network's and the machine's.
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Clock election.Clock
}

// problems collects what is wrong with keys.
type problems []error

func (p *problems) add(key, format string, args ...any) {
	*p = append(*p, fmt.Errorf("high-availability.%s: %w: %w", key, fmt.Errorf(format, args...), ha.ErrConfig))
}

// ParseOptions reads the keys of etcd, and reports all that is wrong. Keys of other
// types are left alone; of an own one that is not known it says so.
func ParseOptions(keys map[string]string) (Options, error) {
	var o Options
	var wrong problems
	var files tlsFiles
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		text := keys[key]
		switch {
		case key == endpointsKey:
			files.wanted = o.parseEndpoints(text, &wrong)
		case key == sessionTimeoutKey, key == connectionTimeoutKey:
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 {
				wrong.add(key, "%q is no time above zero, such as 10s", text)
			}
			if key == connectionTimeoutKey {
				o.ConnectionTimeout = d
			}
		case key == userKey:
			o.User = text
		case key == passwordKey:
			o.Password = text
		case key == caKey:
			files.ca = text
		case key == certificateKey:
			files.certificate = text
		case key == privateKeyKey:
			files.key = text
		case key == rootKey:
			o.Root = text
		case strings.HasPrefix(key, "etcd."):
			wrong.add(key, "there is no such key")
		}
	}
	o.TLS = files.read(&wrong)
	return o, errors.Join(wrong...)
}

// parseEndpoints reads the members, and whether they are to speak TLS.
func (o *Options) parseEndpoints(text string, wrong *problems) (secure bool) {
	plain := false
	for endpoint := range strings.SplitSeq(text, ",") {
		endpoint = strings.TrimSuffix(strings.TrimSpace(endpoint), "/")
		scheme, address, ok := strings.Cut(endpoint, "://")
		switch {
		case !ok:
			address = endpoint
		case scheme == "https":
			secure = true
		case scheme == "http":
			plain = true
		default:
			wrong.add(endpointsKey, "%s: the scheme is http or https", endpoint)
		}
		o.Endpoints = append(o.Endpoints, address)
	}
	if secure && plain {
		wrong.add(endpointsKey, "%s: all of them with TLS, or none", text)
	}
	return secure
}

// tlsFiles are the files of TLS.
type tlsFiles struct {
	wanted               bool
	ca, certificate, key string
}

// read reads them; nil: no TLS.
func (f tlsFiles) read(wrong *problems) *tls.Config {
	if !f.wanted && f.ca == "" && f.certificate == "" && f.key == "" {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		text, err := os.ReadFile(f.ca)
		c.RootCAs = x509.NewCertPool()
		if err != nil {
			wrong.add(caKey, "%w", err)
		} else if !c.RootCAs.AppendCertsFromPEM(text) {
			wrong.add(caKey, "%s holds no certificate in PEM", f.ca)
		}
	}
	switch {
	case (f.certificate == "") != (f.key == ""):
		wrong.add(certificateKey, "it and %s go together", privateKeyKey)
	case f.certificate != "":
		pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
		if err != nil {
			wrong.add(certificateKey, "%w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

// WithDefaults returns the options with every zero replaced by its default.
func (o Options) WithDefaults() Options {
	if o.ConnectionTimeout == 0 {
		o.ConnectionTimeout = 15 * time.Second
	}
	if o.Root == "" {
		o.Root = "/leat"
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	return o
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	var wrong problems
	if len(o.Endpoints) == 0 {
		wrong.add(endpointsKey, "it is required: the members, as host:port,host:port")
	}
	for _, endpoint := range o.Endpoints {
		if host, port, err := net.SplitHostPort(endpoint); err != nil || host == "" || port == "" {
			wrong.add(endpointsKey, "%q is not host:port; the port of etcd is 2379 as a rule", endpoint)
		}
	}
	if (o.User == "") != (o.Password == "") {
		wrong.add(userKey, "it and %s go together", passwordKey)
	}
	if !strings.HasPrefix(o.Root, "/") {
		wrong.add(rootKey, "%q does not begin with a slash", o.Root)
	}
	return errors.Join(wrong...)
}

// dialer connects to a member, with TLS if that is set.
func (o Options) dialer(address string) func(ctx context.Context, address string) (net.Conn, error) {
	if o.TLS == nil {
		return func(ctx context.Context, address string) (net.Conn, error) { return o.Dial(ctx, "tcp", address) }
	}
	cfg := o.TLS.Clone()
	cfg.NextProtos = []string{"h2"}
	if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(address)
	}
	return func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := o.Dial(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		secured := tls.Client(conn, cfg)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("%w: %w", errHandshake, err)
		}
		return secured, nil
	}
}
