package mysql

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mysql://me:p%40ss@db:3307/shop":           "me p@ss tcp db:3307 shop plain",
		"mariadb://me@db/shop":                     "me  tcp db:3306 shop plain",
		"mysql://db":                               "  tcp db:3306  plain",
		"mysql:///shop":                            "  tcp localhost:3306 shop plain",
		"mysql://me@[::1]:9/a%20b":                 "me  tcp [::1]:9 a b plain",
		"mysql://me@/shop?socket=/run/mysqld.sock": "me  unix /run/mysqld.sock shop plain",
		"mysql://db/shop?ssl-mode=DISABLED":        "  tcp db:3306 shop off",
		"mysql://db/shop?ssl-mode=required":        "  tcp db:3306 shop unverified",
		"mysql://db/shop?ssl-mode=verify_identity": "  tcp db:3306 shop db",
		"mysql://db/shop?ssl-mode=verify_ca":       "  tcp db:3306 shop chain",
	} {
		c, err := parseURL(option.Secret(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		secured := "off"
		switch {
		case c.AllowFallbackToPlaintext:
			secured = "plain"
		case c.TLS != nil && c.TLS.VerifyConnection != nil:
			secured = "chain"
		case c.TLS != nil && c.TLS.InsecureSkipVerify:
			secured = "unverified"
		case c.TLS != nil:
			secured = c.TLS.ServerName
		}
		if got := strings.Join([]string{c.User, c.Passwd, c.Net, c.Addr, c.DBName, secured}, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if !c.ClientFoundRows || c.ParseTime || c.AllowAllFiles {
			t.Errorf("%s: %+v", text, c)
		}
	}
}

// An error of a URL says what is wrong with it and holds no part of it.
func TestURLsThatAreWrong(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.pem")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	check(t, os.WriteFile(empty, nil, 0o600))
	for text, word := range map[string]string{
		"mysql://me:sesame%@db/shop":                                  "percent-encode",
		"postgres://me:sesame@db/shop":                                "mysql://",
		"me:sesame@tcp(db)/shop":                                      "url",
		"mysql://me:sesame@db:0/shop":                                 "port",
		"mysql://me:sesame@db:70000/shop":                             "port",
		"mysql://me:sesame@db/shop/more":                              "no database's name",
		"mysql://me:sesame@db/shop?tls=true":                          "is none of ssl-mode",
		"mysql://me:sesame@db/shop?ssl-mode=maybe":                    sslModes,
		"mysql://me:sesame@db/shop?ssl-mode=required&ssl-ca=" + empty: "ssl-ca is for",
		"mysql://me:sesame@db/shop?ssl-mode=disabled&ssl-ca=" + empty: "excludes",
		"mysql://me:sesame@db/shop?ssl-ca=" + missing:                 "read ssl-ca",
		"mysql://me:sesame@db/shop?ssl-ca=" + empty:                   "no certificate",
		"mysql://me:sesame@db/shop?ssl-cert=" + empty:                 "ssl-cert and ssl-key",
		"mysql://me:sesame@db/shop?socket=a&socket=b":                 "socket stands twice",
		"mysql://me?sesame=1@db/shop":                                 "is none of ssl-mode",
		"mysql://me:sesame@db/shop?a=%zz":                             "malformed",
	} {
		_, err := parseURL(option.Secret(text))
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(fmt.Sprint(err), word) || strings.Contains(fmt.Sprint(err), "sesame") {
			t.Errorf("%s: %v, want %q", text, err, word)
		}
	}
}

// certificates makes a certificate of localhost that signs itself, and its key.
func certificates(t *testing.T) (cert, key string) {
	t.Helper()
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	dir := t.TempDir()
	// The server's user has to come in.
	check(t, os.Chmod(filepath.Dir(dir), 0o755))
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	check(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	check(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(private))(t)}), 0o644))
	return cert, key
}

// Each ssl-mode encrypts and verifies as it says.
func TestEncryption(t *testing.T) {
	cert, key := certificates(t)
	strange, _ := certificates(t)
	maria := testenv.MariaDBWith(t, "ssl-cert="+cert, "ssl-key="+key)
	r := &sourceRig{t: t, maria: maria, url: maria.Database(t)}
	named := strings.Replace(r.url, "127.0.0.1", "localhost", 1)
	const query = "SELECT variable_value <> '' AS secured FROM information_schema.session_status WHERE variable_name = 'Ssl_cipher'"
	for parameters, want := range map[string]string{
		r.url + "?ssl-mode=disabled": "0",
		r.url:                        "1",
		r.url + "?ssl-mode=required": "1",
		r.url + "?ssl-mode=verify_ca&ssl-ca=" + cert:       "1",
		r.url + "?ssl-ca=" + cert:                          "1",
		named + "?ssl-mode=verify_identity&ssl-ca=" + cert: "1",
		r.url + "?ssl-mode=verify_identity&ssl-ca=" + cert: "error",
		r.url + "?ssl-mode=verify_ca&ssl-ca=" + strange:    "error",
		named + "?ssl-mode=verify_identity":                "error",
		r.url + "?ssl-mode=verify_ca":                      "error",
	} {
		s := r.source(map[string]any{"url": parameters, "query": query}, connector.SourceEnv{})
		_, err := s.Schema(t.Context())
		if want == "error" {
			if connector.ClassOf(err) != connector.Usage || !strings.Contains(fmt.Sprint(err), "certificate") {
				t.Errorf("%s: %v (%s)", parameters, err, connector.ClassOf(err))
			}
			continue
		}
		check(t, err)
		if rows, _ := readAll(t, s, connector.Want{}); strings.Join(rows, "") != want {
			t.Errorf("%s: encrypted: %q, want %s", parameters, rows, want)
		}
	}
}

func TestSourceOptionsThatContradict(t *testing.T) {
	t.Parallel()
	for _, values := range []map[string]any{
		{}, {"table": "t", "query": "SELECT 1"}, {"table": "a.b.c"}, {"table": "t", "split_rows": -1}, {"table": "t", "split_size": "0B"}, {"table": "t", "tinyint1": "x"},
	} {
		values["url"] = "mysql://db/shop"
		if err := option.Parse(values, new(SourceOptions)); err == nil {
			t.Errorf("%v is taken", values)
		}
	}
}
