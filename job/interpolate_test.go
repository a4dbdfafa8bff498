package job

import (
	"strings"
	"testing"
)

func TestInterpolation(t *testing.T) {
	vars := testVars()
	vars.Set = map[string]string{"dir": "in", "n": "3", "evil": "x\nsink: {pit: }", "again": "${n}"}
	j := mustParse(t, `
source:
  postgres:
    url: postgres://u:${file:/run/pw}@h/db
    key: ${env:PW}
    table: "${dir}/$${dir}/$$${dir}/${evil}/${again}/$"
    max: ${n}
sink: {pit: }
`, vars)
	o := j.Source.Options.(*tableOptions)
	if o.URL.Reveal() != "postgres://u:from-file@h/db" {
		t.Errorf("url %q", o.URL.Reveal())
	}
	if o.Key.Reveal() != "a: b\n- {x}: '\"" {
		t.Errorf("a secret with YAML's characters in it: %q", o.Key.Reveal())
	}
	if o.Table != "in/${dir}/$${dir}/x\nsink: {pit: }/${n}/$" {
		t.Errorf("table %q", o.Table)
	}
	if o.Max != 3 {
		t.Errorf("max %d", o.Max)
	}
}

func TestInterpolationProblems(t *testing.T) {
	vars := testVars()
	vars.Set = map[string]string{"day": "1", "spare": "2"}
	got := strings.Join(problemsOf(t, `
source:
  csv:
    path: ${dya}/${env:NONE}/${file:/none}
sink:
  csv:
    path: ${a b}
    null: "${open"
where: ${nothing.at.all}
`, vars), "\n")
	for _, want := range []string{
		"4 ${dya}: has no value; did you mean ${day}?",
		"4 ${env:NONE}: the environment has no NONE",
		"4 ${file:/none}: open /none: no such file",
		"7 ${a b}: is neither ${name}, ${env:NAME} nor ${file:PATH}; to mean the characters themselves write $${",
		"8 ${ without its };",
		"9 ${nothing.at.all}: has no value; give one with --set nothing.at.all=…",
		`0 a value is set for "day", and there is no ${day}; did you mean "dya"?`,
		`0 a value is set for "spare", and there is no ${spare}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s\nin:\n%s", want, got)
		}
	}
}

func TestSecretsNeverShowInProblems(t *testing.T) {
	for _, text := range []string{
		"source: {postgres: {url: 'postgres://u:hunter22@h/db', ulr: 1, url: 'postgres://u:hunter22@g'}}\nsink: {pit: }\n",
		"source: {postgres: {url: 'postgres://u:hunter22@bad'}}\nsink: {pit: }\n",
		"source: {postgres: {url: '${env:PG_URL}bad', max: '${env:PG_URL}', mode: '${env:PG_URL}'}}\nsink: {pit: }\n",
		"name: ${env:PG_URL}\nsource: {postgres: {url: x, table: ['${env:PG_URL}']}}\nsink: {pit: }\nwhere: [a]\n",
		"name: ${postgres://u:hunter22@h}\n",
		"name: [\npostgres://u:hunter22@h: {\n",
		"name: \"postgres://u:hunter22@h\n",
		"postgres://u:hunter22@h",
		"parallelism: postgres://u:hunter22@h\nerrors: {records: postgres://u:hunter22@h}\ncolumns: [{name: a, cast: 'postgres://u:hunter22@h'}]\n",
		"source: {'postgres://u:hunter22@h': }\n'postgres://u:hunter22@h': 1\nsink: {pit: {'postgres://u:hunter22@h': 1}}\n",
	} {
		_, err := Parse([]byte(text), "test.yaml", testVars(), testRegistry(t))
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		if strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q:\nthe secret shows: %v", text, err)
		}
	}
}

func TestLiteralSecretsWarn(t *testing.T) {
	vars := testVars()
	vars.Set = map[string]string{"pw": "hunter22"}
	for url, warns := range map[string]bool{
		"postgres://u:hunter22@h/db":  true,
		"postgres://u:${pw}@h/db":     true,
		"postgres://u@h/db":           false,
		"${env:PG_URL}":               false,
		"postgres://u:${env:PW}@h/db": false,
	} {
		v := vars
		if !strings.Contains(url, "${pw}") {
			v.Set = nil
		}
		j := mustParse(t, "source: {postgres: {url: '"+url+"'}}\nsink: {pit: }\n", v)
		if (len(j.Warnings) > 0) != warns {
			t.Errorf("%s: warnings %v", url, j.Warnings)
		}
		for _, w := range j.Warnings {
			if !strings.Contains(w, `line 1: the secret in source option "url"`) || strings.Contains(w, "hunter22") {
				t.Errorf("%s: %s", url, w)
			}
		}
		if got := j.Redact("dial hunter22 a: b\n- {x}: '\" done"); strings.Contains(got, "hunter22") && strings.Contains(j.Source.Options.(*tableOptions).URL.Reveal(), "hunter22") {
			t.Errorf("%s: not redacted: %s", url, got)
		}
	}
}
