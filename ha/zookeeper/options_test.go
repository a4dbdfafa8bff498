package zookeeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/zk"
)

func TestDigestIsACredential(t *testing.T) {
	o, err := ParseOptions(map[string]string{"zookeeper.client.digest": "me:a:b"})
	if err != nil || len(o.Auth) != 1 || string(o.Auth[0].Data) != "me:a:b" || o.Auth[0].Scheme != zk.Digest("", "").Scheme {
		t.Errorf("%+v, %v", o.Auth, err)
	}
	_, err = ParseOptions(map[string]string{"zookeeper.client.digest": "hunter2"})
	if !errors.Is(err, ha.ErrConfig) || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
