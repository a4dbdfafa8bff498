package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretNeverShows(t *testing.T) {
	const hidden = "hunter2"
	s := Secret(hidden)
	holder := struct {
		A Secret
		B *Secret
		C []Secret
		D map[string]Secret
	}{s, &s, []Secret{s}, map[string]Secret{"k": s}}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, "%v %+v %#v\n", holder, holder, holder)
	}
	data, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", s, "holder", holder)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", s)
	fmt.Fprintln(&out, fmt.Errorf("open %s: %v", s, s))
	if strings.Contains(out.String(), hidden) || strings.Contains(out.String(), fmt.Sprintf("%x", hidden)) {
		t.Errorf("the secret shows:\n%s", out.String())
	}
	if !strings.Contains(out.String(), mask) || s.Reveal() != hidden || Secret("").String() != "" {
		t.Error("no mask, or not revealed")
	}
}

func TestMaskURL(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://u:pw@h/db":                          "postgres://u:***@h/db",
		"postgres://u:se%ZZ@h":                          "postgres://u:***@h",
		"postgres://u:p/w?x#y@h/db":                     "postgres://u:***@h/db",
		"postgres://u:a@b@h/db":                         "postgres://u:***@h/db",
		"postgres://u:my pass@h/db":                     "postgres://u:***@h/db",
		"postgres://u@h/db?password=pw&sslmode=require": "postgres://u@h/db?password=***&sslmode=require",
		"postgres://h/db?sslpassword=pw":                "postgres://h/db?sslpassword=***",
		"host=h password='p w' user=u":                  "host=h password=*** user=u",
		"host=h password = pw user=u":                   "host=h password = *** user=u",
		"host=h PASSWORD='unterminated pw":              "host=h PASSWORD=***",
		"u:pw@tcp(h:3306)/db":                           "u:***@tcp(h:3306)/db",
		"u:p w@tcp(h:3306)/db":                          "u:***@tcp(h:3306)/db",
		"postgres://h:5432/db?table=t":                  "postgres://h:5432/db?table=t",
		"dial tcp 127.0.0.1:5432: refused":              "dial tcp 127.0.0.1:5432: refused",
		`parse "postgres://u:pw@h": no`:                 `parse "postgres://u:***@h": no`,
		"from postgres://u:a@h to mysql://v:b@g done":   "from postgres://u:***@h to mysql://v:***@g done",
		"s3://b/k?X-Amz-Signature=abc":                  "s3://b/k?X-Amz-Signature=***",
		"":                                              "",
		"airports.csv":                                  "airports.csv",
		"postgres://u:@h":                               "postgres://u:***@h",
	} {
		if got := MaskURL(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// A word that only looks a little like a URL or like pairs is masked whole.
func TestMaskedShowsNothingOfAWord(t *testing.T) {
	for word, want := range map[string]string{
		"YWJjZA==": mask, "a=b": mask, "x:y@z": mask, "abc def://x": mask, "plain": mask, "": "",
		"postgres://u:pw@h/db": "postgres://u:***@h/db", "host=h password=pw": "host=h password=***", "u:pw@tcp(h)/db": "u:***@tcp(h)/db",
	} {
		if got := Secret(word).Masked(); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func FuzzMaskURL(f *testing.F) {
	f.Add("postgres", "u", "p@ss/w?rd", "h:5432/db")
	f.Add("mysql", "", "%ZZ", "[::1]")
	f.Fuzz(func(t *testing.T, scheme, user, password, rest string) {
		const marker = "qZ7sEcReTqZ7"
		if strings.ContainsAny(scheme, " \t\n:/@=\"'`(,") || scheme == "" || scheme[0] < 'A' || strings.ContainsAny(user, ":/@") {
			return
		}
		if strings.Contains(password, "://") || strings.Contains(rest, "://") || strings.Contains(user, "://") {
			return // two URLs are told apart only where a space or quote stands between
		}
		text := scheme + "://" + user + ":" + password + marker + "@" + rest
		if got := MaskURL(text); strings.Contains(got, marker) {
			t.Fatalf("%q is masked as %q", text, got)
		}
	})
}
