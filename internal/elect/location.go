package elect

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const storeForms = "zookeeper://HOST:PORT,HOST:PORT/PATH, etcd://HOST:PORT,HOST:PORT/PATH, or embedded"

// ParseStore makes configuration settings, KEY=value, of the way to a store.
func ParseStore(text string) ([]string, error) {
	const prefix = "high-availability."
	if text == "embedded" {
		return []string{prefix + "type=embedded"}, nil
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil, fmt.Errorf("--store %q is none of %s", text, storeForms)
	}
	servers := map[string]string{"zookeeper": "quorum", "etcd": "endpoints"}[scheme]
	if servers == "" {
		return nil, fmt.Errorf("--store: there is no store %s://, but %s", scheme, storeForms)
	}
	l, err := parseLocation(rest)
	if err != nil {
		return nil, fmt.Errorf("--store %s://: %w", scheme, err)
	}
	settings := []string{prefix + "type=" + scheme, prefix + scheme + "." + servers + "=" + strings.Join(l.servers, ",")}
	if l.path != "" {
		settings = append(settings, prefix+scheme+".path.root="+l.path)
	}
	if l.credentials == "" {
		return settings, nil
	}
	if scheme == "zookeeper" {
		return append(settings, prefix+"zookeeper.client.digest="+l.credentials), nil
	}
	user, password, _ := strings.Cut(l.credentials, ":")
	return append(settings, prefix+"etcd.client.user="+user, prefix+"etcd.client.password="+password), nil
}

// location is what stands behind a scheme.
type location struct {
	credentials string // user:password
	servers     []string
	path        string // "/a/b", or empty
}

func parseLocation(text string) (location, error) {
	var l location
	if strings.ContainsAny(text, "?#") {
		return l, errors.New("nothing may follow a ? or #: settings are given by --set KEY=VALUE, or by the environment")
	}
	// A password may hold a slash.
	authority := text
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		userInfo := text[:at]
		authority = text[at+1:]
		var err error
		if l.credentials, err = url.PathUnescape(userInfo); err != nil {
			return l, errors.New("user and password: write % as %25")
		}
		if user, _, ok := strings.Cut(l.credentials, ":"); !ok || user == "" {
			return l, errors.New("credentials are user:password@")
		}
	}
	hosts, path, _ := strings.Cut(authority, "/")
	if path = strings.Trim(path, "/"); path != "" {
		l.path = "/" + path
	}
	for server := range strings.SplitSeq(hosts, ",") {
		if server = strings.TrimSpace(server); server == "" {
			return l, fmt.Errorf("%q: a server's name is missing: HOST:PORT,HOST:PORT", hosts)
		}
		if err := checkServer(server); err != nil {
			return l, err
		}
		l.servers = append(l.servers, server)
	}
	return l, nil
}

// checkServer says whether a text is HOST, HOST:PORT, or either with an IPv6 address
// in brackets.
func checkServer(server string) error {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		host, port, err = net.SplitHostPort(server + ":1") // without a port
	}
	if n, bad := strconv.Atoi(port); err != nil || host == "" || bad != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%q is not HOST:PORT", server)
	}
	return nil
}
