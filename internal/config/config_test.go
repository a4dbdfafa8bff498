package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/config"
)

const file = `
high-availability:
  type: zookeeper
  storageDir: /shared
  zookeeper.quorum: h1:2181,h2:2181
  zookeeper:
    client:
      session-timeout: 4 s
      max-retry-attempts: 5
heartbeat.interval: 2s
`

func TestEachSourceCoversTheOnesBefore(t *testing.T) {
	c, err := config.Load(config.Input{
		Defaults: []string{"heartbeat.timeout=45s", "heartbeat.interval=1s"},
		FileName: "leat.yaml", File: []byte(file),
		Environ: []string{
			"PATH=/bin", "LEAT_SEED=3", "LEAT_HEARTBEAT_INTERVAL=3s", "LEAT_HIGH_AVAILABILITY_STORAGEDIR=/mnt",
			"LEAT_HIGH_AVAILABILITY_ZOOKEEPER_CLIENT_SESSION_TIMEOUT=2s",
		},
		Flags: []string{"heartbeat.interval=4000ms"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"high-availability.type":                                {"zookeeper", "leat.yaml"},
		"high-availability.storageDir":                          {"/mnt", "environment LEAT_HIGH_AVAILABILITY_STORAGEDIR"},
		"high-availability.zookeeper.quorum":                    {"h1:2181,h2:2181", "leat.yaml"},
		"high-availability.zookeeper.client.session-timeout":    {"2s", "environment LEAT_HIGH_AVAILABILITY_ZOOKEEPER_CLIENT_SESSION_TIMEOUT"},
		"high-availability.zookeeper.client.max-retry-attempts": {"5", "leat.yaml"},
		"heartbeat.interval":                                    {"4s", "flag"},
		"heartbeat.timeout":                                     {"45s", "default"},
		"high-availability.zookeeper.path.checkpoint-counter":   {"/checkpoint-counter", "default"},
		"high-availability.zookeeper.client.connection-timeout": {"15s", "default"},
		"high-availability.zookeeper.path.running-registry":     {"/running_job_registry", "default"},
		"heartbeat.suspect-limit":                               {"2m30s", "default"},
	} {
		found := false
		for _, s := range c.Settings() {
			if s.Name == name {
				found = true
				if s.Value != want[0] || string(s.Source) != want[1] {
					t.Errorf("%s is %q from %s, want %q from %s", name, s.Value, s.Source, want[0], want[1])
				}
			}
		}
		if !found {
			t.Errorf("there is no %s", name)
		}
	}
	ha := c.HighAvailability("host:1")
	if ha.Type != "zookeeper" || ha.StorageDir != "/mnt" || ha.SessionTimeout != 2*time.Second || ha.Name != "host:1" ||
		ha.Options["zookeeper.quorum"] != "h1:2181,h2:2181" || ha.ClusterID != "/default" {
		t.Errorf("told %+v", ha)
	}
	if got := ha.Options["zookeeper.client.connection-timeout"]; got != "2s" {
		t.Errorf("the connection timeout is %s, above the session timeout", got)
	}
	if _, ok := ha.Options["etcd.endpoints"]; ok {
		t.Error("told the options of another type")
	}
}

func TestDefaultsAreValid(t *testing.T) {
	c, err := config.Load(config.Input{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Settings() {
		if s.Doc == "" || s.Source != config.FromDefault {
			t.Errorf("%+v", s)
		}
	}
	ha := c.HighAvailability("a")
	if ha.Type != "none" || ha.SessionTimeout != 10*time.Second || ha.KeepCheckpoints != 3 || len(ha.Addresses) != 0 {
		t.Errorf("told %+v", ha)
	}
}

func TestDefaultsReadAsTheyAreWritten(t *testing.T) {
	for _, k := range config.Keys() {
		if k.Default == "" {
			continue
		}
		if _, err := config.Load(config.Input{Flags: []string{k.Name + "=" + k.Default}}); err != nil {
			t.Error(err)
		}
	}
}

func TestWrongInputNamesTheThingAndTheWayOut(t *testing.T) {
	for what, c := range map[string]struct {
		in   config.Input
		want []string
	}{
		"unknown in a file": {
			config.Input{FileName: "f.yaml", File: []byte("high-availability: {typ: none}\nheartbeat: {x: 1}")},
			[]string{"f.yaml: unknown key high-availability.typ; did you mean high-availability.type?", "unknown key heartbeat.x; leat config"},
		},
		"unknown variable": {
			config.Input{Environ: []string{"LEAT_HEARTBEAT_INTERVALL=3s"}},
			[]string{"environment LEAT_HEARTBEAT_INTERVALL: sets no key; did you mean LEAT_HEARTBEAT_INTERVAL?"},
		},
		"unknown flag": {
			config.Input{Flags: []string{"heartbeat.timout=1s", "novalue"}},
			[]string{"flag: unknown key heartbeat.timout; did you mean heartbeat.timeout?", `"novalue" is not KEY=VALUE`},
		},
		"bad values": {
			config.Input{Flags: []string{
				"heartbeat.interval=soon", "heartbeat.counter.max-misses=0", "high-availability.zookeeper.client.acl=all",
				"zookeeper.sasl.disable=maybe",
			}},
			[]string{
				`heartbeat.interval: "soon" is not a duration such as 10s`, "max-misses: 0 is too small: at least 1",
				`acl: "all" is none of open, creator`, `"maybe" is not true or false`,
			},
		},
		"a list": {
			config.Input{FileName: "f", File: []byte("heartbeat.interval: [1, 2]")},
			[]string{"f: heartbeat.interval: a value, not a list or map"},
		},
		"no value":   {config.Input{FileName: "f", File: []byte("heartbeat.interval:")}, []string{"f: heartbeat.interval: has no value"}},
		"no YAML":    {config.Input{FileName: "f", File: []byte("a: b: c")}, []string{"f: "}},
		"no quorum":  {config.Input{Flags: []string{"high-availability.type=zookeeper"}}, []string{"zookeeper.quorum is required", "storageDir is required for type zookeeper"}},
		"no members": {config.Input{Flags: []string{"high-availability.type=etcd"}}, []string{"etcd.endpoints is required"}},
		"SASL":       {config.Input{Flags: []string{"zookeeper.sasl.disable=false"}}, []string{"the client has no SASL"}},
		"timeouts":   {config.Input{Flags: []string{"heartbeat.timeout=10s"}}, []string{"heartbeat.timeout 10s is not above heartbeat.interval 10s"}},
	} {
		_, err := config.Load(c.in)
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant: %s", what, err, want)
			}
		}
	}
}

func FuzzLoadFile(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte("a: {b: {c: 1}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Load(config.Input{FileName: "f", File: text})
		if (c == nil) == (err == nil) {
			t.Errorf("%v, %v", c, err)
		}
		if c != nil {
			c.HighAvailability("a")
		}
	})
}
