package rpc

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// Config is what an [Env] is made from. Only Messages has to be set.
type Config struct {
	// Listen is where to listen, such as "127.0.0.1:0"; empty: nowhere, and peers
	// reach us over the connections that we make.
	Listen string
	// Advertise is the address told to peers; empty: the listener's own.
	Advertise Addr
	// Messages are the types that are sent and received; see [Define].
	Messages []MessageType
	// Transport makes connections; nil: TCP.
	Transport Transport
	// TLS is used for every connection when set. It has to hold a certificate and
	// both RootCAs and ClientCAs: both sides show a certificate, in TLS 1.3.
	TLS *tls.Config
	// Secret is required of every peer when set. Without TLS it says who may
	// connect, and protects nothing of what follows.
	Secret []byte
	// Logger is told of lost connections, refused strangers and handlers' faults
	// that nobody takes; nil: nobody is.
	Logger *slog.Logger
	// Hooks are told what happens, for metrics.
	Hooks Hooks

	// Dispatchers is how many idle loops wait for an inbox with messages; 0:
	// max(2, processors). When all are busy, more are started.
	Dispatchers int
	// MaxFrame bounds a message; 0: 16 MiB.
	MaxFrame int
	// Window bounds what one connection may have queued at one endpoint here, in
	// bytes; 0: 1 MiB, at least 64 KiB. One message more than fits is let in.
	Window int
	// OutboxBytes bounds what waits for one connection; 0: 16 MiB.
	OutboxBytes int
	// InboxBytes and InboxMessages bound what local senders may have queued at an
	// endpoint; 0: 8 MiB and 8,192.
	InboxBytes    int
	InboxMessages int

	// AskTimeout is for an ask whose context has no deadline, which ends then or up
	// to a quarter later; 0: 60 s.
	AskTimeout time.Duration
	// ConnectTimeout bounds one attempt, with its handshake; 0: 5 s. Strangers are
	// given the same.
	ConnectTimeout time.Duration
	// KeepAlive is how long a peer may be silent before it is given up; 0: 15 s.
	KeepAlive time.Duration
	// BackoffMin and BackoffMax bound the jittered wait before the next attempt
	// after one that failed; 0: 50 ms and 5 s.
	BackoffMin, BackoffMax time.Duration
	// StopTimeout bounds Stop, whatever its context says; 0: 30 s.
	StopTimeout time.Duration
	// MaxStrangers is how many connections may be in their handshake at once; 0:
	// 128. MaxPeers is how many may have passed it; 0: 4,096.
	MaxStrangers, MaxPeers int
}

// WithDefaults returns the config with every zero replaced by its default.
func (c Config) WithDefaults() Config {
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	orInt(&c.Dispatchers, max(2, runtime.GOMAXPROCS(0)))
	orInt(&c.MaxFrame, 16<<20)
	orInt(&c.Window, 1<<20)
	orInt(&c.OutboxBytes, 16<<20)
	orInt(&c.InboxBytes, 8<<20)
	orInt(&c.InboxMessages, 1<<13)
	orInt(&c.MaxStrangers, 128)
	orInt(&c.MaxPeers, 4096)
	orTime(&c.AskTimeout, time.Minute)
	orTime(&c.ConnectTimeout, 5*time.Second)
	orTime(&c.KeepAlive, 15*time.Second)
	orTime(&c.BackoffMin, 50*time.Millisecond)
	orTime(&c.BackoffMax, 5*time.Second)
	orTime(&c.StopTimeout, 30*time.Second)
	if c.Transport == nil {
		c.Transport = TCP{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports all that is wrong with a config whose defaults are filled in.
func (c Config) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	atLeast := func(name string, v, least int) {
		if v < least {
			wrong("%s is %d: at least %d", name, v, least)
		}
	}
	atLeast("Dispatchers", c.Dispatchers, 1)
	atLeast("MaxFrame", c.MaxFrame, 1<<10)
	atLeast("Window", c.Window, wire.InitialWindow)
	atLeast("OutboxBytes", c.OutboxBytes, 1<<10)
	atLeast("InboxBytes", c.InboxBytes, 1)
	atLeast("InboxMessages", c.InboxMessages, 1)
	atLeast("MaxStrangers", c.MaxStrangers, 1)
	atLeast("MaxPeers", c.MaxPeers, 1)
	if c.MaxFrame > 1<<30 {
		wrong("MaxFrame is %d: at most %d", c.MaxFrame, 1<<30)
	}
	for name, d := range map[string]time.Duration{
		"AskTimeout": c.AskTimeout, "ConnectTimeout": c.ConnectTimeout, "KeepAlive": c.KeepAlive,
		"BackoffMin": c.BackoffMin, "BackoffMax": c.BackoffMax, "StopTimeout": c.StopTimeout,
	} {
		if d < time.Millisecond {
			wrong("%s is %s: at least 1ms", name, d)
		}
	}
	if c.BackoffMax < c.BackoffMin {
		wrong("BackoffMax is %s, less than BackoffMin, %s", c.BackoffMax, c.BackoffMin)
	}
	if len(c.Advertise) > maxName {
		wrong("Advertise is longer than %d bytes", maxName)
	}
	if t := c.TLS; t != nil {
		if len(t.Certificates) == 0 && (t.GetCertificate == nil || t.GetClientCertificate == nil) {
			wrong("TLS has no certificate: both sides show one")
		}
		if t.RootCAs == nil || t.ClientCAs == nil {
			wrong("TLS needs RootCAs and ClientCAs: whose certificates to accept of listeners and of dialers")
		}
	}
	return errors.Join(problems...)
}

// serverTLS is what the listening side asks of dialers.
func (c Config) serverTLS() *tls.Config {
	t := c.TLS.Clone()
	t.MinVersion = tls.VersionTLS13
	t.ClientAuth = tls.RequireAndVerifyClientCert
	return t
}

// clientTLS is what the dialling side asks of the listener at addr.
func (c Config) clientTLS(host string) *tls.Config {
	t := c.TLS.Clone()
	t.MinVersion = tls.VersionTLS13
	if t.ServerName == "" {
		t.ServerName = host
	}
	return t
}
