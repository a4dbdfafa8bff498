package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/leatdata/leat/internal/testenv/etcdserver"
	"github.com/leatdata/leat/internal/testenv/zkserver"
)

// Authority signs certificates for servers on the loopback and their clients.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	return &Authority{ca, key}, nil
}

// issue makes a certificate for 127.0.0.1 that serves both ends.
func (a *Authority) issue() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("sign a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// Client is the configuration of a client that trusts the authority and has a
// certificate of it.
func (a *Authority) Client() (*tls.Config, error) {
	cert, err := a.issue()
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

// etcdFiles writes what a server needs below dir.
func (a *Authority) etcdFiles(dir string) (*etcdserver.TLS, error) {
	files, err := a.ClientFiles(dir)
	if err != nil {
		return nil, err
	}
	return &etcdserver.TLS{Key: files.Key, Certificate: files.Certificate, Authority: files.Authority}, nil
}

// Files are a certificate with its key, and the authority's, in PEM.
type Files struct{ Key, Certificate, Authority string }

// ClientFiles writes a certificate that serves both ends below dir.
func (a *Authority) ClientFiles(dir string) (*Files, error) {
	cert, err := a.issue()
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	f := &Files{filepath.Join(dir, "key.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "authority.pem")}
	for name, block := range map[string]*pem.Block{
		f.Key:         {Type: "PRIVATE KEY", Bytes: key},
		f.Certificate: {Type: "CERTIFICATE", Bytes: cert.Certificate[0]},
		f.Authority:   {Type: "CERTIFICATE", Bytes: a.cert.Raw},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, fmt.Errorf("write a certificate: %w", err)
		}
	}
	return f, nil
}

// zookeeperFiles writes what a server needs below dir.
func (a *Authority) zookeeperFiles(dir string) (*zkserver.TLS, error) {
	cert, err := a.issue()
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	both := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	both = append(both, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})...)
	files := &zkserver.TLS{KeyStore: filepath.Join(dir, "server.pem"), TrustStore: filepath.Join(dir, "ca.pem")}
	if err := os.WriteFile(files.KeyStore, both, 0o600); err != nil {
		return nil, fmt.Errorf("write a key: %w", err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(files.TrustStore, ca, 0o600); err != nil {
		return nil, fmt.Errorf("write a certificate: %w", err)
	}
	return files, nil
}
