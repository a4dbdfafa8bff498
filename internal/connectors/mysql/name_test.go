package mysql

import (
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"orders":                 "`orders`",
		"shop.orders":            "`shop`.`orders`",
		" shop.Orders ":          "`shop`.`Orders`",
		"`a.b`.`c``d`":           "`a.b`.`c``d`",
		"`select`":               "`select`",
		strings.Repeat("é", 64):  "`" + strings.Repeat("é", 64) + "`",
		"shop.`with a \" quote`": "`shop`.`with a \" quote`",
	} {
		if n, err := parseName(text); err != nil || n.String() != want {
			t.Errorf("%q is %s (%v), want %s", text, n, err, want)
		}
	}
}

func TestParseNameRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", ".", "a.", ".a", "a.b.c", "a`b", "`a", "`a`b", "`a`.", "``", "a\x00b", "\xff", "`a `", strings.Repeat("é", 65)} {
		if n, err := parseName(text); err == nil {
			t.Errorf("%q is taken for %s", text, n)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]version{
		"10.11.19-MariaDB-0+deb12u1-log": {true, 101119},
		"8.0.36":                         {false, 80036},
		"5.7.44-log":                     {false, 50744},
		"11.4.2-MariaDB":                 {true, 110402},
	} {
		if got, err := parseVersion(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "8", "8.0", "8.0.x", "8.0.100"} {
		if got, err := parseVersion(text); err == nil {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
}
