package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/leatdata/leat/ha"
)

const haPrefix = "high-availability."

// Validate reports all that cannot work together.
func (c *Config) Validate() error {
	var errs []error
	require := func(key, why string) {
		if c.Text(haPrefix+key) == "" {
			errs = append(errs, fmt.Errorf("%s%s is required for %s", haPrefix, key, why))
		}
	}
	kind := c.Text(haPrefix + "type")
	switch kind {
	case "zookeeper":
		require("zookeeper.quorum", "type zookeeper")
		require("storageDir", "type zookeeper")
	case "etcd":
		require("etcd.endpoints", "type etcd")
		require("storageDir", "type etcd")
	case "":
		errs = append(errs, fmt.Errorf("%stype is empty", haPrefix))
	}
	if c.Text("zookeeper.sasl.disable") != "true" {
		errs = append(errs, errors.New("zookeeper.sasl.disable: the client has no SASL: "+
			"use high-availability.zookeeper.client.digest, or TLS, and leave this true"))
	}
	if interval, timeout := c.Duration("heartbeat.interval"), c.Duration("heartbeat.timeout"); timeout <= interval {
		errs = append(errs, fmt.Errorf("heartbeat.timeout %s is not above heartbeat.interval %s", timeout, interval))
	}
	return errors.Join(errs...)
}

// HighAvailability is the part that ha's factories are told; name is what the
// process calls itself.
func (c *Config) HighAvailability(name string) ha.Config {
	kind := c.Text(haPrefix + "type")
	timeout := haPrefix + kind + ".client.session-timeout"
	if _, ok := c.index[timeout]; !ok {
		timeout = haPrefix + "embedded.session-timeout"
	}
	cfg := ha.Config{
		Type: kind, Name: name,
		ClusterID:       c.Text(haPrefix + "cluster-id"),
		StorageDir:      c.Text(haPrefix + "storageDir"),
		KeepCheckpoints: c.Count(haPrefix + "checkpoints.keep"),
		SessionTimeout:  c.Duration(timeout),
		Addresses:       map[string]string{},
		Options:         map[string]string{},
	}
	for _, s := range c.settings {
		option, ok := strings.CutPrefix(s.Name, haPrefix)
		if !ok || s.Value == "" {
			continue
		}
		if component, ok := strings.CutPrefix(option, "address."); ok {
			cfg.Addresses[component] = s.Value
		} else if strings.HasPrefix(option, kind+".") {
			cfg.Options[option] = s.Value
		}
	}
	// Never above the session timeout in use: the servers may shorten it further.
	connection := kind + ".client.connection-timeout"
	if _, ok := cfg.Options[connection]; ok && c.Duration(haPrefix+connection) > cfg.SessionTimeout {
		cfg.Options[connection] = shortDuration(cfg.SessionTimeout)
	}
	return cfg
}
