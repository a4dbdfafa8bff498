package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/leatdata/leat/rpc"
)

// record is a typed message of five fields.
type record struct {
	Number  int32  `rpc:"1"`
	Name    string `rpc:"2"`
	TypeURL string `rpc:"3"`
	Index   int32  `rpc:"4"`
	JSON    string `rpc:"5"`
}

type count struct {
	N int64 `rpc:"1"`
}

func leatConfig(secure bool) (rpc.Config, error) {
	cfg := rpc.Config{Messages: []rpc.MessageType{rpc.Define[record]("record"), rpc.Define[count]("count")}}
	if secure {
		var err error
		if cfg.TLS, err = tlsConfig(); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func serveLeat(secure bool) func() (string, error) {
	return func() (string, error) {
		cfg, err := leatConfig(secure)
		if err != nil {
			return "", err
		}
		cfg.Listen = "127.0.0.1:0"
		env, err := rpc.New(cfg)
		if err != nil {
			return "", err
		}
		var received atomic.Int64
		_, err = env.Register("echo", rpc.Endpoint{Handlers: []rpc.Handler{
			rpc.Receive(func(context.Context, rpc.Bytes) error { received.Add(1); return nil }),
			rpc.Reply(func(_ context.Context, b rpc.Bytes) (rpc.Bytes, error) { return b, nil }),
			rpc.Reply(func(_ context.Context, r record) (record, error) { return r, nil }),
			rpc.Reply(func(context.Context, count) (count, error) { return count{received.Load()}, nil }),
		}})
		if err == nil {
			err = env.Start(context.Background())
		}
		return string(env.Addr()), err
	}
}

type leat struct {
	ref   rpc.Ref
	typed bool
}

func dialLeat(secure, typed bool) func(string) (client, error) {
	return func(addr string) (client, error) {
		cfg, err := leatConfig(secure)
		if err != nil {
			return nil, err
		}
		env, err := rpc.New(cfg)
		if err != nil {
			return nil, err
		}
		return &leat{env.RefAt(rpc.Addr(addr), "echo"), typed}, nil
	}
}

func (l *leat) ask(payload []byte) error {
	if l.typed {
		_, err := rpc.Ask[record](context.Background(), l.ref, record{42, "name", "type.example/some.Type", 7, "jsonName"})
		return err
	}
	_, err := rpc.Ask[rpc.Bytes](context.Background(), l.ref, rpc.Bytes(payload))
	return err
}

func (l *leat) tell(payload []byte) error {
	return rpc.SendWait(context.Background(), l.ref, rpc.Bytes(payload))
}

func (l *leat) received() (int64, error) {
	c, err := rpc.Ask[count](context.Background(), l.ref, count{})
	return c.N, err
}

// certFile is where the server's process leaves the certificate that both use.
const certFile = "LEAT_BENCH_CERT"

// tlsConfig makes a certificate, or reads the one that the other process made.
func tlsConfig() (*tls.Config, error) {
	dir := os.Getenv(certFile)
	certPath, keyPath := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := os.Stat(certPath); errors.Is(err, os.ErrNotExist) {
		if err := makeCertificate(certPath, keyPath); err != nil {
			return nil, err
		}
	}
	cert, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert.Leaf)
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool}, nil
}

func makeCertificate(certPath, keyPath string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(keyPath, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600),
		os.WriteFile(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
	)
}
