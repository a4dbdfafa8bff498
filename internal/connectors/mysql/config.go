package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/gather"
)

// Values of ssl-mode, as the servers' own clients name them.
const (
	sslDisabled       = "disabled"
	sslPreferred      = "preferred"
	sslRequired       = "required"
	sslVerifyCA       = "verify_ca"
	sslVerifyIdentity = "verify_identity"
)

// sslModes lists them for messages.
const sslModes = "disabled, preferred, required, verify_ca or verify_identity"

const defaultPort = "3306"

// connectionParameters may stand behind the ? of a URL.
func connectionParameters() []string {
	return []string{"ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "socket"}
}

// parseURL reads a connection URL. Its errors never hold a part of it.
func parseURL(text option.Secret) (*driver.Config, error) {
	u, err := url.Parse(text.Reveal())
	if err != nil {
		return nil, usageURL("it cannot be read as a URL; percent-encode special characters of its password")
	}
	if u.Scheme != "mysql" && u.Scheme != "mariadb" || u.Opaque != "" {
		return nil, usageURL("it has to begin with mysql://")
	}
	config := driver.NewConfig()
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.DBName = strings.TrimPrefix(u.Path, "/")
	if config.DBName != "" && (strings.Contains(config.DBName, "/") || checkName(config.DBName) != nil) {
		return nil, usageURL("what follows the host is no database's name")
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, usageURL("the part after ? is malformed")
	}
	for p, values := range parameters {
		if !slices.Contains(connectionParameters(), p) {
			// A password with a question mark in it makes names of such parameters.
			return nil, usageURL("a parameter behind ? is none of " + strings.Join(connectionParameters(), ", "))
		}
		if len(values) > 1 {
			return nil, usageURL(p + " stands twice")
		}
	}
	if err := address(config, u, parameters.Get("socket")); err != nil {
		return nil, err
	}
	if err := secure(config, u.Hostname(), parameters); err != nil {
		return nil, err
	}
	settle(config)
	return config, nil
}

func usageURL(fault string) error { return connector.Errorf(connector.Usage, "url: %s", fault) }

// address sets where the server is.
func address(config *driver.Config, u *url.URL, socket string) error {
	if socket != "" {
		config.Net, config.Addr = "unix", socket
		return nil
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		host = "localhost"
	}
	if port == "" {
		port = defaultPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return usageURL("its port is none from 1 to 65535")
	}
	config.Net, config.Addr = "tcp", net.JoinHostPort(host, port)
	return nil
}

// settle sets what the user has no say in.
func settle(config *driver.Config) {
	// Rows matched, not rows changed: an UPDATE that finds what it would write
	// has found its row (exactness rule 3).
	config.ClientFoundRows = true
	config.ParseTime = false
	config.MaxAllowedPacket = 0 // the server's
	config.Timeout = 15 * time.Second
	config.Logger = &driver.NopLogger{}
	config.ConnectionAttributes = "program_name:leat"
	dialer := &net.Dialer{
		Timeout:         10 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3},
	}
	dial := gather.Dialer(dialer)
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		b := newBuffered(conn)
		leave(ctx, b)
		return b, nil
	}
}

// secure sets how the connection is encrypted.
func secure(config *driver.Config, host string, parameters url.Values) error {
	mode := strings.ToLower(parameters.Get("ssl-mode"))
	ca, cert, key := parameters.Get("ssl-ca"), parameters.Get("ssl-cert"), parameters.Get("ssl-key")
	if mode == "" {
		mode = sslPreferred
		if ca != "" {
			mode = sslVerifyCA
		}
	}
	verified := mode == sslVerifyCA || mode == sslVerifyIdentity
	switch {
	case mode == sslDisabled && ca+cert+key != "":
		return usageURL("ssl-mode=disabled excludes ssl-ca, ssl-cert and ssl-key")
	case ca != "" && !verified && mode != sslDisabled:
		return usageURL("ssl-ca is for ssl-mode=verify_ca or verify_identity")
	case mode == sslDisabled:
		return nil
	case !verified && mode != sslPreferred && mode != sslRequired:
		return usageURL("ssl-mode is none of " + sslModes)
	}
	config.AllowFallbackToPlaintext = mode == sslPreferred
	config.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: mode != sslVerifyIdentity} //nolint:gosec // as ssl-mode says
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return connector.Errorf(connector.Usage, "url: read ssl-ca: %w", err)
		}
		config.TLS.RootCAs = x509.NewCertPool()
		if !config.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return usageURL("the file of ssl-ca holds no certificate")
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return connector.Errorf(connector.Usage, "url: read ssl-cert and ssl-key: %w", err)
		}
		config.TLS.Certificates = []tls.Certificate{pair}
	}
	if mode == sslVerifyCA {
		roots := config.TLS.RootCAs
		config.TLS.VerifyConnection = func(state tls.ConnectionState) error { return verifyChain(state, roots) }
	}
	return nil
}

// verifyChain checks who has signed the server's certificate, not its name.
func verifyChain(state tls.ConnectionState, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server has shown no certificate")
	}
	intermediates := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		intermediates.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates})
	return err
}
