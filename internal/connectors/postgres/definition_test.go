package postgres

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// A password shows in no error, however the URL is broken.
func TestSecretsStayHidden(t *testing.T) {
	for _, secret := range []string{
		"postgres://u:se%ZZ@h", "postgres://u:se%ZZcret@h/db?sslmode=disable", "postgres://u:secret@h:notaport/db", "postgres://u:secret@[::1/db",
		"host=h password=secret port=x", "postgres://u:secret@h/db?sslmode=strange", "postgres://u:sec/ret@h/db", "host=h password='secret",
		"postgres://u:secret@h/db?connect_timeout=secret",
	} {
		o := &SinkOptions{URL: option.Secret(secret), Table: "t"}
		_, err := newSink(o, connector.SinkEnv{})
		if err == nil {
			continue
		}
		if connector.ClassOf(err) != connector.Usage {
			t.Errorf("%s: %s", secret, connector.ClassOf(err))
		}
		if text := fmt.Sprintf("%v %+v %#v", err, err, o); strings.Contains(text, "se%") || strings.Contains(text, "sec") {
			t.Errorf("the secret shows: %s", text)
		}
	}
	// Nor where the connection fails.
	k := must(newSink(&SinkOptions{URL: "postgres://u:secret@127.0.0.1:1/db", Table: "t"}, connector.SinkEnv{}))(t)
	_, err := k.Resolve(t.Context(), newSchema(untyped("a")...))
	expectClass(t, err, connector.Retryable, "connect")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the secret shows: %v", err)
	}
}

func TestLocation(t *testing.T) {
	u := must(url.Parse("postgres://u:p%40@h:5/db?table=Sales.Orders&mode=upsert&key=a,b&sslmode=disable&pre=SELECT+1&pre=SELECT+2"))(t)
	got := must(Definition().Location(connector.Location{URL: u, Sink: true}))(t)
	o := new(SinkOptions)
	check(t, option.Parse(got, o))
	if o.URL.Reveal() != "postgres://u:p%40@h:5/db?sslmode=disable" || o.Table != "Sales.Orders" || o.Mode != "upsert" || strings.Join(o.Key, "+") != "a+b" || len(o.Pre) != 2 {
		t.Errorf("options: %q %+v", o.URL.Reveal(), o)
	}
	got = must(Definition().Location(connector.Location{URL: must(url.Parse("postgresql://h/db?query=select+1%2C+2"))(t)}))(t)
	s := new(SourceOptions)
	check(t, option.Parse(got, s))
	if s.Query != "select 1, 2" || s.URL.Reveal() != "postgresql://h/db" {
		t.Errorf("options: %q %+v", s.URL.Reveal(), s)
	}
	for _, raw := range []string{"postgres://h/db", "postgres://h/db?table=a&table=b"} {
		_, err := Definition().Location(connector.Location{URL: must(url.Parse(raw))(t)})
		expectClass(t, err, connector.Usage)
	}
}

// A parameter that was meant as another is told; settings of the server pass,
// and the server tells of those that it has not.
func TestUnknownParameter(t *testing.T) {
	server := testenv.Postgres(t)
	for raw, words := range map[string][]string{
		"postgres://u@h/db?tabel=t":            {`"tabel"`, `did you mean "table"?`, "sslmode"},
		"postgres://u@h/db?table=t&ssl-mode=x": {`"ssl-mode"`, `did you mean "sslmode"?`},
	} {
		_, err := Definition().Location(connector.Location{URL: must(url.Parse(raw))(t)})
		expectClass(t, err, connector.Usage, words...)
	}
	const pass = "&table=t&search_path=public&work_mem=64MB&enable_seqscan=off"
	_ = must(Definition().Location(connector.Location{URL: must(url.Parse(server.URL("postgres") + pass))(t)}))(t)
	s := must(newSource(&SourceOptions{URL: option.Secret(server.URL("postgres") + "&no_such_thing=1"), Table: "t"}, connector.SourceEnv{}))(t)
	defer func() { check(t, s.Close()) }()
	_, err := s.Schema(t.Context())
	expectClass(t, err, connector.Usage, "no_such_thing")
}

func TestOptions(t *testing.T) {
	err := option.Parse(map[string]any{"url": "postgres://h", "table": `a.b.c`, "key": "x", "runs_table": `"`}, new(SinkOptions))
	for _, w := range []string{"key is for mode upsert", "table:", "runs_table:"} {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("error %v does not say %q", err, w)
		}
	}
	for _, values := range []map[string]any{{"url": "x"}, {"url": "x", "table": "t", "query": "q"}, {"url": "x", "table": "t", "split_rows": -1}, {"url": "x", "table": "t", "split_size": 0}} {
		if err := option.Parse(values, new(SourceOptions)); err == nil {
			t.Errorf("%v is taken", values)
		}
	}
}

func TestReadback(t *testing.T) {
	o := must(Definition().Sink.Readback(&SinkOptions{URL: "postgres://h/db", Table: "S.T"}))(t)
	if s := o.(*SourceOptions); s.Table != "S.T" || s.URL.Reveal() != "postgres://h/db" || s.SplitSize == 0 {
		t.Errorf("options: %+v", s)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"t": `"t"`, "Sales.Order": `"Sales"."Order"`, `"Sales"."Order"`: `"Sales"."Order"`, `"a.b"."c""d"`: `"a.b"."c""d"`, `s."x y"`: `"s"."x y"`, `"s".t`: `"s"."t"`,
	} {
		n, err := parseName(text)
		check(t, err)
		if n.String() != want {
			t.Errorf("%s: %s, want %s", text, n, want)
		}
	}
	for _, text := range []string{"", ".", "a.", ".b", "a.b.c", `"`, `"a`, `"a"b`, `a"b`, `""`, `a.""`, `"a".`} {
		if n, err := parseName(text); err == nil {
			t.Errorf("%q is taken as %s", text, n)
		}
	}
}

// Rule 5: the line number is found in whatever language the server speaks.
func TestLineOfRefusal(t *testing.T) {
	for where, want := range map[string]int{
		"COPY t, line 17, column id: \"x\"":                                17,
		"COPY t, Zeile 3":                                                  3,
		"tのCOPY、行番号 12、列 a":                                                12,
		"PL/pgSQL function f(integer) line 3 at RAISE\nCOPY t, line 9":     9,
		"SQL statement \"SELECT 1 FROM t 5\"\nCOPY t, line 2, column a: 8": 2,
		"PL/pgSQL function after(integer) line 3 at RAISE":                 0,
		"": 0, "COPY u, line 5": 0, "COPY t": 0,
	} {
		if got := lineOf(where, "t"); got != want {
			t.Errorf("%q: %d, want %d", where, got, want)
		}
	}
	if got := lineOf("COPY t 12, line 7", "t 12"); got != 7 {
		t.Errorf("a table with a number in its name: %d", got)
	}
}
