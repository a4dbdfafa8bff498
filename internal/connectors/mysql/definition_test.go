package mysql

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

func TestLocation(t *testing.T) {
	u := must(url.Parse("mysql://u:p%40@h:5/db?table=sales.Orders&mode=upsert&key=a,b&ssl-mode=disabled&pre=SELECT+1&pre=SELECT+2"))(t)
	got := must(Definition().Location(connector.Location{URL: u, Sink: true}))(t)
	o := new(SinkOptions)
	check(t, option.Parse(got, o))
	if o.URL.Reveal() != "mysql://u:p%40@h:5/db?ssl-mode=disabled" || o.Table != "sales.Orders" || o.Mode != "upsert" || strings.Join(o.Key, "+") != "a+b" || len(o.Pre) != 2 {
		t.Errorf("options: %q %+v", o.URL.Reveal(), o)
	}
	got = must(Definition().Location(connector.Location{URL: must(url.Parse("mariadb://h/db?query=select+1%2C+2&tinyint1=int&split_rows=7"))(t)}))(t)
	s := new(SourceOptions)
	check(t, option.Parse(got, s))
	if s.Query != "select 1, 2" || s.URL.Reveal() != "mariadb://h/db" || s.TinyInt1 != tinyintInt || s.SplitRows != 7 {
		t.Errorf("options: %q %+v", s.URL.Reveal(), s)
	}
	for _, raw := range []string{"mysql://h/db", "mysql://h/db?table=a&table=b", "mysql://h/db?table=%zz"} {
		_, err := Definition().Location(connector.Location{URL: must(url.Parse(raw))(t)})
		expectClass(t, err, connector.Usage)
	}
	_, err := Definition().Location(connector.Location{Path: "a.csv"})
	expectClass(t, err, connector.Usage, "mysql://")
}

// A parameter that nobody takes is told, with the one that was likely meant.
func TestUnknownParameter(t *testing.T) {
	for raw, words := range map[string][]string{
		"mysql://u@h/db?tabel=t":              {`"tabel"`, `did you mean "table"?`, "ssl-mode"},
		"mysql://u@h/db?table=t&sslmode=none": {`"sslmode"`, `did you mean "ssl-mode"?`},
		"mysql://u@h/db?table=t&x=1":          {`"x"`, "tinyint1"},
		"mysql://u@h/db?table=t&url=x":        {`"url"`},
	} {
		_, err := Definition().Location(connector.Location{URL: must(url.Parse(raw))(t)})
		expectClass(t, err, connector.Usage, words...)
	}
	// The rest of a password that has a question mark is no parameter's name.
	_, err := Definition().Location(connector.Location{URL: must(url.Parse("mysql://u:12?sesame&x@h/db?table=t"))(t)})
	expectClass(t, err, connector.Usage, "percent-encode")
	if strings.Contains(err.Error(), "sesame") {
		t.Errorf("the secret shows: %v", err)
	}
}

// A password shows in no error, also where the connection fails.
func TestSecretsStayHidden(t *testing.T) {
	s := must(newSource(&SourceOptions{URL: "mysql://u:sesame@127.0.0.1:1/db", Table: "t"}, connector.SourceEnv{}))(t)
	defer func() { check(t, s.Close()) }()
	_, err := s.Schema(t.Context())
	expectClass(t, err, connector.Retryable, "connect")
	if text := fmt.Sprintf("%v %+v %#v", err, err, s.options); strings.Contains(text, "sesame") {
		t.Errorf("the secret shows: %s", text)
	}
}
