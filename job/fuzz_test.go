package job

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

func FuzzParse(f *testing.F) {
	f.Add(printed)
	f.Add("source: {csv: {path: ${p}}}\nsink: {pit: }\n")
	f.Add("a: &x [*x]\n<<: {b: c}\n? {d: e}\n: f\n")
	f.Add("name: ${env:PG_URL}\nwhere: $${x\ncolumns:\n- a\n- {name: b, value: 1, cast: 'int32[]'}\n")
	f.Add("source: {postgres: {url: \"${env:PG_URL}\"}}\nsink: {csv: {path: a, types: {a: [b]}}}\nspeed: {bytes: 1k}\n")
	f.Fuzz(func(t *testing.T, text string) {
		j, err := Parse([]byte(text), "fuzz.yaml", testVars(), testRegistry(t))
		if err != nil {
			if connector.ClassOf(err) != connector.Usage {
				t.Fatalf("class %s: %v", connector.ClassOf(err), err)
			}
			if strings.Contains(err.Error(), "hunter22") {
				t.Fatalf("the secret shows: %v", err)
			}
			return
		}
		if len(j.Diff(j.Fingerprint())) > 0 {
			t.Fatal("a job differs from itself")
		}
		if out := j.YAML(); strings.Contains(out, "hunter22") && !strings.Contains(text, "hunter22") {
			t.Fatalf("the secret shows in\n%s", out)
		}
	})
}

func FuzzInterpolate(f *testing.F) {
	f.Add("a", "value", "b")
	f.Add("$${x}", "${x}", "${env:N}")
	f.Fuzz(func(t *testing.T, before, value, after string) {
		vars := testVars()
		vars.Set = map[string]string{"x": value}
		p := &problems{}
		n := &node{shape: scalar, text: escape(before) + "${x}" + escape(after), line: 1}
		newInterpolation(vars, p).tree(n)
		want := before + value + after
		if strings.HasSuffix(before, "$") {
			want = before[:len(before)-1] + "${x}" + after // the $ escapes
		}
		if n.text != want || len(p.list) > 0 {
			t.Fatalf("got %q, %v; want %q", n.text, p.list, want)
		}
	})
}

func FuzzEscape(f *testing.F) {
	f.Add("a ${b} $${c} $")
	f.Fuzz(func(t *testing.T, text string) {
		p := &problems{}
		n := &node{shape: scalar, text: escape(text), line: 1}
		newInterpolation(testVars(), p).tree(n)
		if n.text != text || len(p.list) > 0 {
			t.Fatalf("%q escaped as %q reads back as %q, %v", text, escape(text), n.text, p.list)
		}
	})
}
