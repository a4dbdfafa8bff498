package standalone_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/standalone"
	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// hosts resolves what it holds.
type hosts map[string]string

func (h hosts) LookupHost(_ context.Context, host string) ([]string, error) {
	if address, ok := h[host]; ok {
		return []string{address}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// TestContract: a cluster has one master process, so all that is opened by one name
// in a test shares a folder, one after the other.
func TestContract(t *testing.T) {
	hatest.RunStores(t, hatest.Suite{
		World: func(t *testing.T) *hatest.World {
			dir := t.TempDir()
			return &hatest.World{
				Timeout: time.Second,
				Open: func(t *testing.T, _ string, cfg ha.Config) ha.Services {
					cfg.Type, cfg.StorageDir, cfg.SessionTimeout = "none", dir, time.Second
					s, err := ha.Registry{"none": standalone.New}.Open(t.Context(), cfg)
					if err != nil {
						t.Fatal(err)
					}
					return s
				},
			}
		},
		Bubble: synctest.Test,
	})
}

func TestFixedAddressIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := standalone.New(t.Context(), ha.Config{Addresses: map[string]string{"dispatcher": "master:7000"}})
		if err != nil {
			t.Fatal(err)
		}
		l, r := &hatest.Listener{}, s.Retrieval("dispatcher")
		if err := r.Start(l); err != nil {
			t.Fatal(err)
		}
		l.Hears(t, "the address", func(leader ha.Leader) bool {
			return leader == ha.Leader{Address: "master:7000", Session: standalone.Session}
		})
		if err := r.Start(l); !errors.Is(err, ha.ErrStarted) {
			t.Errorf("second start: %v", err)
		}
		err = s.Retrieval("rest_server").Start(l)
		if !errors.Is(err, ha.ErrConfig) || !strings.Contains(err.Error(), "rest_server") {
			t.Errorf("an address that is not configured: %v", err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if told := l.Told(); len(told) != 1 {
			t.Errorf("told %+v", told)
		}
	})
}

func TestHostsAreResolvedWhereAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := standalone.Factory(hosts{"master": "10.0.0.1"})
		cfg := ha.Config{Addresses: map[string]string{"dispatcher": "master:7000", "rest_server": "nowhere:8081"}}
		s, err := open(t.Context(), cfg)
		if err != nil {
			t.Fatalf("the master itself resolves nothing: %v", err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		cfg.Resolve = true
		_, err = open(t.Context(), cfg)
		if !errors.Is(err, ha.ErrConfig) || !strings.Contains(err.Error(), `rest_server, "nowhere:8081"`) {
			t.Errorf("a host that does not resolve: %v", err)
		}
		cfg.Addresses = map[string]string{"dispatcher": "no port"}
		if _, err = open(t.Context(), cfg); !errors.Is(err, ha.ErrConfig) {
			t.Errorf("an address without a port: %v", err)
		}
	})
}

// A counter without a shared store is no witness, and says so.
func TestCountersSayThatNothingIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := standalone.New(t.Context(), ha.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Counters().ReadAll(t.Context()); !errors.Is(err, ha.ErrUnavailable) {
			t.Errorf("read: %v", err)
		}
		if err := s.Counters().Write(t.Context(), "w", 1); !errors.Is(err, ha.ErrUnavailable) {
			t.Errorf("write: %v", err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
