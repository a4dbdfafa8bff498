package mysql

import (
	"fmt"
	"strconv"
	"strings"
)

// version is a server's kind and version.
type version struct {
	mariaDB bool
	// number is 10000 times the major version, 100 times the minor one and the
	// patch: 101119 is 10.11.19.
	number int
}

// parseVersion reads what VERSION() tells: 8.0.36, 10.11.19-MariaDB-log.
func parseVersion(text string) (version, error) {
	v := version{mariaDB: strings.Contains(strings.ToLower(text), "mariadb")}
	digits, _, _ := strings.Cut(text, "-")
	parts := strings.Split(digits, ".")
	if len(parts) < 3 {
		return v, fmt.Errorf("the server's version %q is none", text)
	}
	for _, part := range parts[:3] {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil || n > 99 {
			return v, fmt.Errorf("the server's version %q is none", text)
		}
		v.number = v.number*100 + int(n)
	}
	return v, nil
}

// String names the server to people.
func (v version) String() string {
	product := "MySQL"
	if v.mariaDB {
		product = "MariaDB"
	}
	return fmt.Sprintf("%s %d.%d.%d", product, v.number/10000, v.number/100%100, v.number%100)
}

// indexUsable is the condition, on information_schema.statistics, that a query
// may use an index: one can be kept and hidden from queries.
func (v version) indexUsable() string {
	switch {
	case v.mariaDB && v.number >= 100600:
		return "ignored = 'NO'"
	case !v.mariaDB && v.number >= 80000:
		return "is_visible = 'YES'"
	}
	return "TRUE"
}
