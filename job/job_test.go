package job

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// fileOptions and tableOptions stand for a connector's declarations.
type fileOptions struct {
	Path   string            `option:"path,required" doc:"file"`
	Header bool              `option:"header" default:"true" doc:"names"`
	Null   *string           `option:"null" doc:"null token"`
	Types  map[string]string `option:"types" doc:"types"`
}

type tableOptions struct {
	URL   option.Secret `option:"url,required" doc:"url"`
	Key   option.Secret `option:"key" doc:"secret word"`
	Table string        `option:"table" doc:"table"`
	Mode  string        `option:"mode" default:"append" enum:"append,overwrite" doc:"mode"`
	Rows  int           `option:"rows,tuning" default:"100" doc:"rows"`
	Max   int           `option:"max" doc:"max"`
}

func (o *tableOptions) Validate() error {
	if strings.Contains(o.URL.Reveal(), "bad") {
		return errors.Join(
			&option.Problem{Option: "url", Reason: "cannot be parsed: " + o.URL.Reveal()},
			fmt.Errorf("no way to %s", o.URL.Reveal()))
	}
	return nil
}

func testRegistry(tb testing.TB) *connector.Registry {
	r, err := connector.NewRegistry(
		&connector.Definition{
			Name:   "csv",
			Source: &connector.SourceDef{Options: func() any { return &fileOptions{} }},
			Sink:   &connector.SinkDef{Options: func() any { return &fileOptions{} }},
		},
		&connector.Definition{
			Name:   "postgres",
			Source: &connector.SourceDef{Options: func() any { return &tableOptions{} }},
			Sink:   &connector.SinkDef{Options: func() any { return &tableOptions{} }},
		},
		&connector.Definition{Name: "pit", Sink: &connector.SinkDef{Options: func() any { return &struct{}{} }}},
	)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func testVars() Vars {
	env := map[string]string{"PG_URL": "postgres://u:hunter22@h/db", "PW": "a: b\n- {x}: '\"", "N": "7"}
	return Vars{
		Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		File: func(path string) ([]byte, error) {
			if path == "/run/pw" {
				return []byte("from-file\n"), nil
			}
			return nil, fmt.Errorf("open %s: no such file", path)
		},
	}
}

func mustParse(t *testing.T, text string, vars Vars) *Job {
	t.Helper()
	j, err := Parse([]byte(text), "test.yaml", vars, testRegistry(t))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestParseWholeFile(t *testing.T) {
	j := mustParse(t, `
name: orders
source: {postgres: {url: "${env:PG_URL}", table: public.orders}}
sink:
  csv:
    path: out/
    header: false
    null: ''
    types: {a: int64}
columns:
  - id
  - {name: total, from: amount, cast: "decimal(15,2)"}
  - {name: origin, value: "north"}
  - {name: n, value: 12}
  - {name: none, value: null, cast: date}
where: a = 1 or b = 2
parallelism: 4
errors: {records: 100, percentage: 2.5, dirty: dirty.jsonl}
checkpoint: {interval: 2s, keep: 3}
restart: {attempts: 2, backoff: 100ms}
`, testVars())
	source, sink := j.Source.Options.(*tableOptions), j.Sink.Options.(*fileOptions)
	if j.Name != "orders" || j.Source.Connector != "postgres" || source.URL.Reveal() != "postgres://u:hunter22@h/db" || source.Table != "public.orders" {
		t.Errorf("source: %+v", j.Source)
	}
	if sink.Path != "out/" || sink.Header || *sink.Null != "" || sink.Types["a"] != "int64" {
		t.Errorf("sink: %+v", sink)
	}
	want := []Column{
		{Name: "id", From: "id"},
		{Name: "total", From: "amount", HasCast: true, Cast: batch.Type{Kind: batch.Decimal, Precision: 15, Scale: 2}},
		{Name: "origin", Constant: true, Value: []byte("north"), Cast: batch.Of(batch.Text)},
		{Name: "n", Constant: true, Value: []byte("12"), Cast: batch.Of(batch.Int64)},
		{Name: "none", Constant: true, HasCast: true, Cast: batch.Of(batch.Date)},
	}
	if !reflect.DeepEqual(j.Columns, want) {
		t.Errorf("columns:\n got %+v\nwant %+v", j.Columns, want)
	}
	if j.Where != "a = 1 or b = 2" || j.Parallelism != 4 || j.Errors != (Errors{100, 2.5, "dirty.jsonl"}) ||
		j.Checkpoint != (Checkpoint{2 * time.Second, 3}) || j.Restart != (Restart{2, 100 * time.Millisecond}) {
		t.Errorf("got %+v", j)
	}
	if len(j.Warnings) != 0 {
		t.Errorf("warnings: %v", j.Warnings)
	}
}

func TestDefaults(t *testing.T) {
	const sides = "source: {csv: {path: a.csv}}\nsink: {pit: }\n"
	j := mustParse(t, sides, Vars{})
	if j.Name != "test" || j.Parallelism != 0 || j.Errors != (Errors{0, -1, ""}) || j.Checkpoint != (Checkpoint{10 * time.Second, 1}) ||
		j.Restart != (Restart{5, time.Second}) || j.Columns != nil {
		t.Errorf("got %+v", j)
	}
	if j := mustParse(t, sides+"errors: {percentage: 1}\n", Vars{}); j.Errors != (Errors{-1, 1, ""}) {
		t.Errorf("a percentage alone: %+v", j.Errors)
	}
}

// problemsOf returns what is wrong as "line text" lines.
func problemsOf(t *testing.T, text string, vars Vars) []string {
	t.Helper()
	_, err := Parse([]byte(text), "test.yaml", vars, testRegistry(t))
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("no job error for %q: %v", text, err)
	}
	if connector.ClassOf(err) != connector.Usage {
		t.Errorf("class %s", connector.ClassOf(err))
	}
	var lines []string
	for _, p := range e.Problems {
		lines = append(lines, fmt.Sprintf("%d %s", p.Line, p.Text))
	}
	return lines
}

func TestEveryProblemHasItsLine(t *testing.T) {
	got := problemsOf(t, `nmae: x
source:
  postgres:
    ulr: "u"
    tabel: t
    mode: appendd
    max: 1.5
    max: 2
sink:
  csvv:
    path: a
columns:
  - id
  - id
  - {name: a, form: b}
  - {name: a, cast: decimale}
  - {name: a, from: b, value: c}
  - {from: q, value: 1}
  - [x]
wehre: a
parallelism: many
errors: {records: -1, percentage: 200}
checkpoint:
  intervall: 5s
restart: 5
name: "../x"
`, Vars{})
	want := []string{
		`1 key "nmae" is not known; did you mean "name"?`,
		`3 source postgres: option "url" must be given`,
		`4 source postgres: option "ulr" is not known; did you mean "url"?`,
		`5 source postgres: option "tabel" is not known; did you mean "table"?`,
		`6 source postgres: option "mode": "appendd" is not one of append, overwrite; did you mean "append"?`,
		`7 source postgres: option "max": "1.5" is not an integer`,
		`8 key "max" stands already in line 7`,
		`10 there is no connector "csvv"; did you mean "csv"?`,
		`14 column "id" stands twice in columns`,
		`15 column: option "form" is not known; did you mean "from"?`,
		`16 type "decimale": unknown`,
		`17 a column has either from or value, not both`,
		`18 a column has either from or value, not both`,
		`19 a column is a name, or a map of name, from, cast, value`,
		`20 key "wehre" is not known; did you mean "where"?`,
		`21 parallelism "many" is not a number from 1 to 1024`,
		`22 errors: option "records": -1 is less than 0`,
		`22 errors: option "percentage": 200 is not between 0 and 100`,
		`24 checkpoint: option "intervall" is not known; did you mean "interval"?`,
		`25 restart is one value where a map is wanted`,
		`26 name "../x": a name has letters`,
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("unexpected: %s", got[i])
		case !strings.HasPrefix(got[i], want[i]):
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestWrongFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "0 is empty",
		"# nothing\n":            "0 is empty",
		"- a\n":                  "1 a job file is a map",
		"a: b: c\n":              "1 YAML: ",
		"a: 1\n---\nb: 2\n":      "3 a second document",
		"name: &x a\nsource: *x": "1 anchor is not for job files",
		"source: {csv: {path: ${p}}}\nsink: {pit: }\n":                               "1 YAML: ',' or '}' must be specified; within { } and [ ], ${…} stands in quotes",
		"source: {csv: {path: a}}\nsink: {pit: }\nspeed: {bytes: 0}\n":               `3 speed: option "bytes": 0 is less than 1; leave it out for no limit`,
		"source: {csv: {path: a}}\nsink: {pit: }\nspeed: {records: -3}\n":            `3 speed: option "records": -3 is less than 1; leave it out for no limit`,
		"source: {pit: }\nsink: {pit: }\n":                                           "1 pit cannot be a source",
		"source: {csv: {path: a}, pit: }\nsink: {pit: }\n":                           "1 source is one connector's name",
		"source: {csv: [a]}\nsink: {pit: }\n":                                        "1 source: the options of csv are a list where a map is wanted",
		"source: {csv: {path: a}}\n":                                                 "1 the job has no sink",
		"source: {csv: {path: a}}\nsink: {pit: }\nspeed: {bits: 1}\n":                `3 speed: option "bits" is not known`,
		"source: {csv: {path: }}\nsink: {pit: }\n":                                   `1 source csv: option "path": has no value`,
		"source: {csv: {path: a, types: {x: [1]}}}\nsink: {pit: }\ncolumns: [x]\n":   `1 source csv: option "types": x: is a list`,
		"source: {csv: {path: a}}\nsink: {pit: }\ncolumns: []\n":                     "3 columns is empty",
		"source: {csv: {path: a}}\nsink: {pit: }\ncolumns: [{from: '*'}]\n":          "3 a column needs a name",
		"source: {csv: {path: a}}\nsink: {pit: }\ncolumns: [{name: x, value: []}]\n": `3 column: option "value": is a list`,
	} {
		if got := problemsOf(t, text, Vars{}); !strings.HasPrefix(got[0], want) {
			t.Errorf("%q\n got %s\nwant %s", text, got[0], want)
		}
	}
}

func TestConstantsKeepTheirForm(t *testing.T) {
	for form, want := range map[string]batch.Type{
		"true": batch.Of(batch.Bool), "'true'": batch.Of(batch.Text), "007": batch.Of(batch.Text), "0": batch.Of(batch.Int64),
		"-12": batch.Of(batch.Int64), "1.50": batch.Of(batch.Decimal), "18446744073709551616": batch.Of(batch.Decimal),
		"1e3": batch.Of(batch.Text), "2024-01-31": batch.Of(batch.Text), ".5": batch.Of(batch.Text), "${n}": batch.Of(batch.Int64),
		"${n}x": batch.Of(batch.Text), `"${n}"`: batch.Of(batch.Text),
	} {
		j := mustParse(t, "source: {csv: {path: a}}\nsink: {pit: }\ncolumns:\n  - {name: used, value: \"${n}\"}\n  - name: c\n    value: "+form+"\n",
			Vars{Set: map[string]string{"n": "5"}})
		c := j.Columns[1]
		if !c.Cast.Equal(want) {
			t.Errorf("%s: got %s, want %s", form, c.Cast, want)
		}
		if text := strings.Trim(strings.ReplaceAll(form, "${n}", "5"), `'"`); string(c.Value) != text {
			t.Errorf("%s: got %q", form, c.Value)
		}
	}
}
