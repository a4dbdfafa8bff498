// Package config is the settings of a cluster's processes: one table of keys with
// their defaults, and where each value comes from. A file in YAML is covered by
// the environment, and that by flags. An unknown key is an error, with the one
// that was probably meant.
package config

import (
	"fmt"
	"strconv"
	"time"
)

// Source is where a value comes from.
type Source string

// FromDefault is the source of what nobody has set.
const FromDefault Source = "default"

// Setting is a key with its value.
type Setting struct {
	Key
	// Value is written in one way; empty: not set, and without a default.
	Value  string
	Source Source
}

// Config has a value for each key.
type Config struct {
	settings []Setting
	index    map[string]int
}

func newConfig(keys []Key) *Config {
	c := &Config{index: make(map[string]int, len(keys))}
	for i, k := range keys {
		c.index[k.Name] = i
		c.settings = append(c.settings, Setting{Key: k, Value: k.Default, Source: FromDefault})
	}
	return c
}

// Settings returns all, in the order of the table.
func (c *Config) Settings() []Setting { return append([]Setting(nil), c.settings...) }

// set gives a key a value.
func (c *Config) set(name, value string, source Source) error {
	s := &c.settings[c.index[name]]
	normal, err := s.normal(value)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", source, name, err)
	}
	s.Value, s.Source = normal, source
	return nil
}

// Text returns a value as it is. A name that is not in the table is a fault of
// the program.
func (c *Config) Text(name string) string {
	i, ok := c.index[name]
	if !ok {
		panic("config: there is no key " + name)
	}
	return c.settings[i].Value
}

// Duration returns a value that the table says is one.
func (c *Config) Duration(name string) time.Duration {
	d, err := time.ParseDuration(c.Text(name))
	if err != nil {
		panic("config: " + name + " is no duration: " + err.Error())
	}
	return d
}

// Count returns a value that the table says is a number.
func (c *Config) Count(name string) int {
	n, err := strconv.Atoi(c.Text(name))
	if err != nil {
		panic("config: " + name + " is no number: " + err.Error())
	}
	return n
}
