package zookeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/zk"
)

// Options are what is ZooKeeper's own, by their keys below high-availability.
type Options struct {
	// Quorum is zookeeper.quorum: the servers, as host:port.
	Quorum []string
	// ConnectionTimeout is zookeeper.client.connection-timeout: how long opening a
	// session may take over all servers; 15 s, never above the session timeout. One
	// server is left after 0.8 s, whatever it is.
	ConnectionTimeout time.Duration
	// RetryWait and MaxRetryAttempts are zookeeper.client.retry-wait and
	// max-retry-attempts: for a transaction that a missing folder or another's write
	// has refused. 100 ms and 3.
	RetryWait        time.Duration
	MaxRetryAttempts int
	// ACL is zookeeper.client.acl: "open", or "creator" with Auth.
	ACL string
	// Root is zookeeper.path.root: /leat.
	Root string
	// Paths are those of zookeeper.path.latch and so on, by the folders of the seam.
	Paths map[string]string
	// Auth and TLS are the client's credentials: zookeeper.client.digest is one of
	// Auth, and no key gives the others.
	Auth []zk.Auth
	TLS  *tls.Config
	// Dial and Clock stand in for the network's and the machine's.
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Clock zk.Clock
}

const latch = "leaderlatch"

// paths are the keys of folders, and the folder of each.
func paths() map[string]string {
	return map[string]string{
		"zookeeper.path.latch":              latch,
		"zookeeper.path.leader":             coord.Leader,
		"zookeeper.path.checkpoints":        coord.Checkpoints,
		"zookeeper.path.checkpoint-counter": coord.CheckpointCounter,
		"zookeeper.path.running-registry":   coord.RunningRegistry,
		"zookeeper.path.jobgraphs":          coord.JobGraphs,
	}
}

// sessionTimeoutKey overrides ha.Config's.
const sessionTimeoutKey = "zookeeper.client.session-timeout"

// ParseOptions reads the keys of ZooKeeper, and reports all that is wrong. Keys of
// other types are left alone; of an own one that is not known it says so.
func ParseOptions(keys map[string]string) (Options, error) {
	var o Options
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("high-availability.%s: %s: %w", key, fmt.Sprintf(format, args...), ha.ErrConfig))
	}
	duration := func(key, text string) time.Duration {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			bad(key, "%q is no time above zero, such as 10s", text)
		}
		return d
	}
	folders := paths()
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		text := keys[key]
		switch folder, isPath := folders[key]; {
		case isPath:
			if o.Paths == nil {
				o.Paths = map[string]string{}
			}
			o.Paths[folder] = text
		case key == "zookeeper.quorum":
			for server := range strings.SplitSeq(text, ",") {
				o.Quorum = append(o.Quorum, strings.TrimSpace(server))
			}
		case key == sessionTimeoutKey:
			_ = duration(key, text)
		case key == "zookeeper.client.connection-timeout":
			o.ConnectionTimeout = duration(key, text)
		case key == "zookeeper.client.retry-wait":
			o.RetryWait = duration(key, text)
		case key == "zookeeper.client.max-retry-attempts":
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				bad(key, "%q is no number above zero", text)
			}
			o.MaxRetryAttempts = n
		case key == "zookeeper.client.acl":
			o.ACL = text
		case key == "zookeeper.client.digest":
			user, password, ok := strings.Cut(text, ":")
			if !ok || user == "" {
				bad(key, "it is not user:password")
			}
			o.Auth = append(o.Auth, zk.Digest(user, password))
		case key == "zookeeper.path.root":
			o.Root = text
		case strings.HasPrefix(key, "zookeeper."):
			bad(key, "there is no such key")
		}
	}
	return o, errors.Join(errs...)
}

// WithDefaults returns the options with every zero replaced by its default.
func (o Options) WithDefaults() Options {
	if o.ConnectionTimeout == 0 {
		o.ConnectionTimeout = 15 * time.Second
	}
	if o.RetryWait == 0 {
		o.RetryWait = 100 * time.Millisecond
	}
	if o.MaxRetryAttempts == 0 {
		o.MaxRetryAttempts = 3
	}
	if o.ACL == "" {
		o.ACL = "open"
	}
	if o.Root == "" {
		o.Root = "/leat"
	}
	return o
}

// Validate reports all that is wrong with the options.
func (o Options) Validate() error {
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("high-availability.%s: %s: %w", key, fmt.Sprintf(format, args...), ha.ErrConfig))
	}
	if len(o.Quorum) == 0 {
		bad("zookeeper.quorum", "it is required: the servers, as host:port,host:port")
	}
	switch {
	case o.ACL != "open" && o.ACL != "creator":
		bad("zookeeper.client.acl", "%q is neither open nor creator", o.ACL)
	case o.ACL == "creator" && len(o.Auth) == 0:
		bad("zookeeper.client.acl", "creator needs credentials: set high-availability.zookeeper.client.digest")
	}
	if !strings.HasPrefix(o.Root, "/") {
		bad("zookeeper.path.root", "%q does not begin with a slash", o.Root)
	}
	for key, folder := range paths() {
		if path, ok := o.Paths[folder]; ok && clean(path) == "" {
			bad(key, "%q names no folder", path)
		}
	}
	return errors.Join(errs...)
}

// clean is a path with one slash before each of its names, and none at its end.
func clean(path string) string {
	var b strings.Builder
	for name := range strings.SplitSeq(path, "/") {
		if name != "" {
			b.WriteString("/" + coord.Escape(name))
		}
	}
	return b.String()
}
