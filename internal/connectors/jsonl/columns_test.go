package jsonl

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// A source without records has no columns of its own: those that the job
// wants, or none.
func TestASourceWithoutObjectsHasNoColumns(t *testing.T) {
	for _, text := range []string{"", "\n \r\n", "\xef\xbb\xbf"} {
		s := sourceOf(t, map[string]any{"types": map[string]any{"a": "json"}}, text)
		schema, err := s.Schema(t.Context())
		if err != nil || len(schema.Fields) != 0 {
			t.Fatalf("%q: %v, %v", text, schema, err)
		}
		if rows, dirty := read(t, s); len(rows)+len(dirty) > 0 {
			t.Errorf("%q: rows %q, dirty %q", text, rows, dirty)
		}
		s.schema, s.wanted = nil, []string{"b", "a"}
		schema, err = s.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := schemaText(schema); got != "b untyped, a json" {
			t.Errorf("%q: columns %s", text, got)
		}
	}
}

// Where no line tells columns, the error says which line and why.
func TestLinesThatTellNoColumnsAreNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n{\"a\":\"\\ud800\"}\n", "line 2: character 7: half of a surrogate pair stands alone"},
		{"[1]\n", "line 1: character 1: the line is no JSON object"},
		{"{\"a\":1,\"a\":2}", `line 1: character 8: the key "a" is there twice`},
		{"{\"a\":1}x", "line 1: character 8: more follows the object"},
		{"{a:1}", "line 1: character 2: a name in quotes is expected"},
		{"{\"a\":1", "line 1: character 7: a comma or the end is expected"},
		{"{}\n", "no object has a key"},
	} {
		_, err := sourceOf(t, nil, c.text).Schema(t.Context())
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %s", c.text, err, c.want)
		}
		if c.want[0] == 'l' && !strings.Contains(err.Error(), "a.jsonl: ") {
			t.Errorf("%q: %v names no file", c.text, err)
		}
	}
	if s, err := NewSource(storage.Local{}, strings.NewReader("{x}\n"), &SourceOptions{SourceOptions: files.SourceOptions{Path: []string{"-"}}}, connector.SourceEnv{}); err != nil {
		t.Fatal(err)
	} else if _, err := s.Schema(t.Context()); err == nil || !strings.Contains(err.Error(), "standard input: line 1: character 2: ") {
		t.Errorf("standard input: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// What breaks a line is its fault, and not that its keys were not found
// because of it.
func TestABrokenLineIsNotBlamedForItsKeys(t *testing.T) {
	s := sourceOf(t, nil, `{"a":1}`+"\n"+`{"u":"\ud800"}`+"\n"+`{"v":1,"a":tru}`+"\n")
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{"1"})
	equal(t, "dirty", dirty, []string{
		"line 2: : character 7: half of a surrogate pair stands alone",
		"line 3: : character 12: no JSON value begins so",
	})
}

func TestKeysThatAreNoTextAreAUsageError(t *testing.T) {
	for _, c := range []struct{ encoding, text string }{
		{"utf-8", "{\"\xd6\xd0\":1}\n"},
		{"utf-8", `{"a":1}` + "\n" + `{"b\u0000":1}` + "\n"},
		{"gbk", "{\"\xff\":1}\n"},
	} {
		_, err := sourceOf(t, map[string]any{"encoding": c.encoding}, c.text).Schema(t.Context())
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "a.jsonl: the key ") || !strings.Contains(err.Error(), "another encoding") {
			t.Errorf("%s %q: %v", c.encoding, c.text, err)
		}
	}
}
