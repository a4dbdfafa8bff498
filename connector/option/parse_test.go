package option

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

type common struct {
	Header bool `option:"header" default:"true" doc:"first line has names"`
}

type castOptions struct {
	Name string `option:"name,required" doc:"column"`
	To   string `option:"to" enum:"int,text" doc:"type"`
}

type options struct {
	common
	URL     Secret            `option:"url,required" doc:"where"`
	Mode    string            `option:"mode" default:"append" enum:"append,overwrite,upsert" doc:"mode"`
	Roll    Size              `option:"roll_size" default:"128MiB" doc:"roll"`
	Timeout Duration          `option:"timeout,tuning" default:"5s" doc:"wait"`
	Key     []string          `option:"key" doc:"key"`
	Types   map[string]string `option:"types" doc:"types"`
	Null    *string           `option:"null" doc:"null token"`
	Skip    int               `option:"skip" doc:"lines"`
	Share   float64           `option:"share" doc:"part"`
	Casts   []castOptions     `option:"casts" doc:"casts"`
	derived int
}

func (o *options) Validate() error {
	if o.Skip < 0 {
		return errors.New("skip is negative")
	}
	return nil
}

func TestParseFillsDefaults(t *testing.T) {
	var o options
	if err := Parse(map[string]any{"url": "postgres://h/db"}, &o); err != nil {
		t.Fatal(err)
	}
	if !o.Header || o.Mode != "append" || o.Roll != 128<<20 || o.Timeout.Std() != 5*time.Second || o.Null != nil || o.derived != 0 {
		t.Errorf("defaults: %+v", o)
	}
}

func TestParseTakesGoValuesAndTexts(t *testing.T) {
	empty := ""
	want := options{
		common: common{Header: false}, URL: "u", Mode: "upsert", Roll: 1000, Timeout: Duration(90 * time.Second),
		Key: []string{"a", "b"}, Types: map[string]string{"n": "1"}, Null: &empty, Skip: 3, Share: 0.5,
		Casts: []castOptions{{Name: "x", To: "int"}},
	}
	for name, values := range map[string]map[string]any{
		"go": {
			"url": Secret("u"), "mode": "upsert", "header": false, "roll_size": int64(1000), "timeout": Duration(90 * time.Second),
			"key": []string{"a", "b"}, "types": map[string]any{"n": 1}, "null": "", "skip": uint64(3), "share": 0.5,
			"casts": []any{map[string]any{"name": "x", "to": "int"}},
		},
		"texts": {
			"url": "u", "mode": "upsert", "header": "FALSE", "roll_size": "1k", "timeout": "1m30s",
			"key": "a, b", "types": map[string]string{"n": "1"}, "null": "", "skip": "3", "share": ".5",
			"casts": []map[string]any{{"name": "x", "to": "int"}},
		},
	} {
		var o options
		if err := Parse(values, &o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(o, want) {
			t.Errorf("%s:\n got %#v\nwant %#v", name, o, want)
		}
	}
}

func TestParseReportsAllProblems(t *testing.T) {
	var o options
	err := Parse(map[string]any{
		"ulr": "x", "Mode": "append", "mode": "upsrt", "roll_size": "20 apples", "timeout": "5", "skip": "1e3",
		"header": "perhaps", "types": []any{"a"}, "share": map[string]any{}, "key": nil,
		"casts": []any{map[string]any{"nmae": "x", "to": "txt"}},
	}, &o)
	got := map[string]*Problem{}
	for _, p := range Problems(err) {
		got[p.Option] = p
	}
	for name, want := range map[string]string{
		"ulr":           `option "ulr" is not known; did you mean "url"?`,
		"Mode":          `option "Mode" is not known; did you mean "mode"?`,
		"url":           `option "url" must be given`,
		"mode":          `"upsrt" is not one of append, overwrite, upsert; did you mean "upsert"?`,
		"roll_size":     `"20 apples" is not a size`,
		"timeout":       `"5" is not a duration`,
		"skip":          `"1e3" is not an integer`,
		"header":        `"perhaps" is neither true nor false`,
		"types":         `is not a map`,
		"share":         `is a map where one value is wanted`,
		"key":           `has no value`,
		"casts[0].nmae": `did you mean "name"?`,
		"casts[0].name": `must be given`,
		"casts[0].to":   `"txt" is not one of int, text; did you mean "text"?`,
	} {
		if got[name] == nil || !strings.Contains(got[name].Error(), want) {
			t.Errorf("%s: got %v, want %s", name, got[name], want)
		}
		delete(got, name)
	}
	for name, p := range got {
		t.Errorf("unexpected: %s: %v", name, p)
	}
	if again := Parse(map[string]any{"b1": 1, "a1": 1, "url": "u"}, &o); Problems(again)[0].Option != "a1" {
		t.Errorf("unknown options are not sorted: %v", again)
	}
}

func TestParseRunsValidate(t *testing.T) {
	var o options
	if err := Parse(map[string]any{"url": "u", "skip": -1}, &o); err == nil || err.Error() != "skip is negative" {
		t.Errorf("got %v", err)
	}
}

func TestWholeTextIsOneItem(t *testing.T) {
	var o struct {
		Path []string `option:"path,whole"`
		Key  []string `option:"key"`
	}
	if err := Parse(map[string]any{"path": "a,b.csv", "key": "a,b"}, &o); err != nil || len(o.Path) != 1 || len(o.Key) != 2 {
		t.Errorf("got %v, %v", o, err)
	}
	for _, one := range []string{"UPDATE t SET a = 1, b = 2", "SELECT a, b", "f(1,2)", "a,", `"a,b"`} {
		if err := Parse(map[string]any{"key": one}, &o); err != nil || len(o.Key) != 1 || o.Key[0] != one {
			t.Errorf("%s: %v, %q", one, err, o.Key)
		}
	}
	if err := Parse(map[string]any{"path": []any{"a", "b"}}, &o); err != nil || len(o.Path) != 2 {
		t.Errorf("a list: %v, %v", o, err)
	}
}

func TestRequiredIsNotEmpty(t *testing.T) {
	var o options
	err := Parse(map[string]any{"url": ""}, &o)
	if p := Problems(err); len(p) != 1 || p[0].Kind != Missing {
		t.Errorf("got %v", err)
	}
}

func TestWrongDeclarationsPanic(t *testing.T) {
	for name, ptr := range map[string]any{
		"twice": &struct {
			A string `option:"a"`
			B string `option:"a"`
		}{},
		"default": &struct {
			A int `option:"a" default:"x"`
		}{},
		"flag": &struct {
			A int `option:"a,requird"`
		}{},
		"type": &struct {
			A chan int `option:"a"`
		}{},
		"enum": &struct {
			A string `option:"a" default:"z" enum:"x,y"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Describe(ptr)
		}()
	}
}

func TestDescribe(t *testing.T) {
	docs := Describe(&options{})
	names := make([]string, len(docs))
	for i, d := range docs {
		names[i] = d.Name + ":" + d.Type
	}
	want := "header:true or false url:secret text mode:text roll_size:size timeout:duration key:list of text " +
		"types:map of text null:text skip:integer share:number casts:list of map casts.name:text casts.to:text"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if d := docs[2]; d.Default != "append" || len(d.Enum) != 3 || d.Doc != "mode" || d.Required || !docs[1].Required {
		t.Errorf("got %+v", d)
	}
}

func TestIdentity(t *testing.T) {
	parse := func(values map[string]any) map[string]string {
		var o options
		if err := Parse(values, &o); err != nil {
			t.Fatal(err)
		}
		return Identity(&o)
	}
	a := parse(map[string]any{"url": "postgres://u:one@h/db", "timeout": "1s"})
	b := parse(map[string]any{"url": "postgres://u:two@h/db", "mode": "append", "roll_size": "131072KiB"})
	if !reflect.DeepEqual(a, b) {
		t.Errorf("a password, a tuning option and defaults make a difference:\n%v\n%v", a, b)
	}
	if a["url"] != "postgres://u:***@h/db" {
		t.Errorf("url: %q", a["url"])
	}
	if c := parse(map[string]any{"url": "postgres://u:one@h/other"}); reflect.DeepEqual(a, c) {
		t.Error("another database makes no difference")
	}
	if d := parse(map[string]any{"url": "word", "null": ""}); d["url"] != "" || len(d) != len(a) {
		t.Errorf("a secret word is kept, or a given null is not: %v", d)
	}
	if e := parse(map[string]any{"url": "word", "header": true, "skip": 0, "key": []string{}}); len(e) != 0 {
		t.Errorf("defaults are kept: %v", e)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"table", "query", "url", "path", "parallelism", "null", "skip_lines"}
	for name, want := range map[string]string{
		"tabel": "table", "qury": "query", "ulr": "url", "URL": "url", "paralellism": "parallelism",
		"skip-lines": "skip_lines", "zebra": "", "x": "", "": "", "nul": "null",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
