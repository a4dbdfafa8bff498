package mysql

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector/option"
)

// A name that is taken quotes to what is taken for the same name again.
func FuzzParseName(f *testing.F) {
	for _, seed := range []string{"orders", "shop.orders", "`a.b`.`c``d`", "a`b", "`a`.", "``", " x ", "a.b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := parseName(text)
		if err != nil {
			return
		}
		if again, err := parseName(n.String()); err != nil || again != n {
			t.Errorf("%q is %+v, which is %+v (%v) again", text, n, again, err)
		}
	})
}

// No URL makes a configuration that lets the server read our files, and no
// error tells a part of the password.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"mysql://me:secret@db:3306/shop?ssl-mode=required", "mariadb://db", "mysql://[::1]:1/x?socket=/s", "mysql:x", "mysql://a:b%@c/d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseURL(option.Secret(text))
		if err == nil && (c.AllowAllFiles || !c.ClientFoundRows || c.ParseTime || c.MultiStatements || c.Addr == "") {
			t.Errorf("%q: %+v", text, c)
		}
		u, malformed := url.Parse(text)
		if err == nil || malformed != nil || u.User == nil {
			return
		}
		if password, _ := u.User.Password(); len(password) > 8 && !strings.Contains("url: it cannot be read", password) && strings.Contains(err.Error(), password) &&
			!strings.Contains(u.RawQuery, password) {
			t.Errorf("%q: the error tells the password: %v", text, err)
		}
	})
}

// A version that is read has parts below 100.
func FuzzParseVersion(f *testing.F) {
	f.Add("10.11.19-MariaDB")
	f.Add("8.0.36")
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := parseVersion(text); err == nil && (v.number < 0 || v.number > 999999) {
			t.Errorf("%q is %+v", text, v)
		}
	})
}

// Whatever stands in a stored split or position, the condition made of it is
// one comparison: no literal ends early.
func FuzzKeyLiteral(f *testing.F) {
	for form := formNumber; form <= formBits; form++ {
		for _, seed := range []string{"1", "1e5", "x' OR '1'='1", `\`, "00ff", "2024-01-01 00:00:00", "é", "1 OR 1", "--", "1/*"} {
			f.Add(uint8(form), seed)
		}
	}
	f.Fuzz(func(t *testing.T, form uint8, noted string) {
		k := keyColumn{column: column{name: "k", charset: "utf8mb4", collation: "utf8mb4_bin"}, form: keyForm(form)}
		literal, err := k.literal(noted)
		if err != nil {
			return
		}
		inner := strings.TrimSuffix(literal, " COLLATE utf8mb4_bin")
		if from := strings.IndexByte(inner, '\''); from >= 0 {
			if !slices.Contains([]string{"", "x", "_utf8mb4 x"}, inner[:from]) || len(inner) < from+2 || inner[len(inner)-1] != '\'' {
				t.Fatalf("%q is %s", noted, literal)
			}
			inner = inner[from+1 : len(inner)-1]
			if strings.ContainsAny(inner, `'\`) {
				t.Errorf("%q is %s", noted, literal)
			}
			return
		}
		if !isNumberText(inner) || strings.Contains(inner, "--") {
			t.Errorf("%q is %s", noted, literal)
		}
	})
}

// What the source makes of a server's text of a time, number or BIT is
// canonical, or the record's fault.
func FuzzDecode(f *testing.F) {
	for how := asIs; how <= toInstant; how++ {
		for _, seed := range []string{"2024-01-31 13:05:00.120000", "0000-00-00 00:00:00.000", "-838:59:59.000", "0000001.500", "2024-00-00", "\x01\x02", "", ".", "00", "1.", "0"} {
			f.Add(uint8(how), []byte(seed))
		}
	}
	kinds := map[conversion]batch.Type{
		toFlag: batch.Of(batch.Bool), toBits: {Kind: batch.Bit, Length: 9, Fixed: true}, toNumber: batch.Of(batch.Uint64),
		toDate: batch.Of(batch.Date), toDatetime: batch.Of(batch.Timestamp), toInstant: batch.Of(batch.Instant),
	}
	f.Fuzz(func(t *testing.T, how uint8, text []byte) {
		d := decoder{column: &column{precision: 9}, how: conversion(how)}
		got, err := d.text([]byte("before"), text)
		if err != nil {
			return
		}
		cell, ok := strings.CutPrefix(string(got), "before")
		if !ok {
			t.Fatalf("%q became %q", text, got)
		}
		kind, known := kinds[d.how]
		if !known || !plainServerText(d.how, text) {
			return
		}
		canonical, err := value.Canonical(kind)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := canonical(nil, []byte(cell)); err != nil || string(again) != cell {
			t.Errorf("%q became %q, canonical is %q (%v)", text, cell, again, err)
		}
	})
}

// plainServerText reports whether a server could have printed the text: days of
// four digits of a year, and nothing around them.
func plainServerText(how conversion, text []byte) bool {
	var shape string
	switch how {
	case toDate:
		shape = "dddd-dd-dd"
	case toDatetime, toInstant:
		shape = "dddd-dd-dd dd:dd:dd"
		if len(text) > len(shape) {
			shape += "." + strings.Repeat("d", min(6, max(1, len(text)-len(shape)-1)))
		}
	default:
		return len(text) <= 8
	}
	if len(text) != len(shape) || string(text[:4]) == "0000" && string(text[5:10]) != "00-00" || len(text) > 12 && string(text[11:13]) > "23" {
		return false
	}
	for i, c := range text {
		if digit := c >= '0' && c <= '9'; digit != (shape[i] == 'd') || !digit && c != shape[i] {
			return false
		}
	}
	return true
}
