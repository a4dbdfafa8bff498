package etcd

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

func TestWrongKeysAreNamed(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.pem")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, c := range map[string]struct {
		more map[string]string
		want string
	}{
		"no endpoints":        {map[string]string{"etcd.endpoints": ""}, "etcd.endpoints: \"\" is not host:port"},
		"no port":             {map[string]string{"etcd.endpoints": "h1,h2:2379"}, "\"h1\" is not host:port; the port of etcd is 2379 as a rule"},
		"a strange scheme":    {map[string]string{"etcd.endpoints": "ftp://h1:2"}, "the scheme is http or https"},
		"half TLS":            {map[string]string{"etcd.endpoints": "http://h1:2,https://h2:2"}, "all of them with TLS, or none"},
		"unknown":             {map[string]string{"etcd.endpoint": "h:1"}, "high-availability.etcd.endpoint: there is no such key"},
		"no time":             {map[string]string{"etcd.client.session-timeout": "soon"}, "\"soon\" is no time above zero"},
		"no file":             {map[string]string{"etcd.client.tls.ca-file": none}, "ca-file: open " + none},
		"no certificate":      {map[string]string{"etcd.client.tls.ca-file": empty}, empty + " holds no certificate in PEM"},
		"no key":              {map[string]string{"etcd.client.tls.certificate-file": empty}, "it and etcd.client.tls.key-file go together"},
		"no pair":             {map[string]string{"etcd.client.tls.certificate-file": empty, "etcd.client.tls.key-file": empty}, "certificate-file: tls:"},
		"a user, no password": {map[string]string{"etcd.client.user": "me"}, "etcd.client.user: it and etcd.client.password go together"},
		"a relative root":     {map[string]string{"etcd.path.root": "leat"}, "\"leat\" does not begin with a slash"},
	} {
		keys := map[string]string{"etcd.endpoints": "h:2379", "zookeeper.quorum": "left alone"}
		maps.Copy(keys, c.more)
		_, err := Factory(t.Context(), ha.Config{StorageDir: t.TempDir(), Options: keys})
		if err == nil || !errors.Is(err, ha.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", key, err, c.want)
		}
	}
	_, err := New(t.Context(), ha.Config{}, Options{})
	for _, want := range []string{"etcd.endpoints: it is required", "storageDir: it is required with etcd"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing is given: %v, want %s", err, want)
		}
	}
}

func TestOptionsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	o, err := ParseOptions(map[string]string{
		"etcd.endpoints": "https://h1:1/, https://h2:2", "etcd.client.connection-timeout": "4s",
		"etcd.client.user": "me", "etcd.client.password": "p", "etcd.path.root": "/r", "zookeeper.quorum": "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(o.Endpoints, " ") != "h1:1 h2:2" || o.ConnectionTimeout != 4*time.Second || o.User != "me" ||
		o.Password != "p" || o.Root != "/r" || o.TLS == nil {
		t.Errorf("read %+v", o)
	}
	for d, want := range map[time.Duration]int64{time.Second: 1, 1500 * time.Millisecond: 2, 10 * time.Second: 10} {
		if got := seconds(d); got != want {
			t.Errorf("%s is %d seconds", d, got)
		}
	}
}

// What is told of errors never holds the password.
func TestPasswordIsNotTold(t *testing.T) {
	t.Parallel()
	_, err := New(t.Context(), ha.Config{}, Options{Endpoints: []string{"h"}, Password: "hunter2"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
