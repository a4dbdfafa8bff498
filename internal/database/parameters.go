package database

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// CheckParameters refuses parameters of a location that nobody takes: of query,
// from which the options declared were taken, those that are not the
// connection's. Where the server has settings of its own, only what was likely
// meant as another is refused. place is the option that the URL itself is.
func CheckParameters(u *url.URL, query url.Values, declared any, connection []string, settings bool, place string) error {
	known := slices.Clone(connection)
	for _, o := range option.Describe(declared) {
		if o.Name != place {
			known = append(known, o.Name)
		}
	}
	slices.Sort(known)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		near := option.Nearest(name, known)
		if slices.Contains(connection, name) || settings && near == "" {
			continue
		}
		// A password with a ? in it makes names of such parameters.
		if u.User == nil && strings.Contains(u.RawQuery, "@") {
			return connector.Errorf(connector.Usage, "a parameter behind the ? of the location is not known; percent-encode special characters of its password")
		}
		hint := ""
		if near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return connector.Errorf(connector.Usage, "the location's parameter %q is not known%s It may have %s", name, cmp.Or(hint, "."), strings.Join(known, ", "))
	}
	return nil
}
