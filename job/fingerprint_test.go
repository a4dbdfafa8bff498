package job

import (
	"encoding/json"
	"strings"
	"testing"
)

const printed = `name: a
source:
  postgres: {url: "postgres://u:one-secret@h/db", table: t, key: word}
sink:
  csv: {path: out/}
columns: [id, {name: x, from: y}]
where: a > 1
`

func TestHashIsOfWhatIsWrittenWhere(t *testing.T) {
	base := mustParse(t, printed, Vars{})
	for name, c := range map[string]struct {
		from, to string
		same     bool
	}{
		"password":  {"one-secret", "another", true},
		"secret":    {"key: word", "key: other", true},
		"tuning":    {"table: t", "table: t, rows: 5", true},
		"default":   {"table: t", "table: t, mode: append", true},
		"spelling":  {"{path: out/}", "\n    path: 'out/'", true},
		"name":      {"name: a", "name: b", true},
		"others":    {"where:", "parallelism: 3\nerrors: {records: 4}\nwhere:", true},
		"table":     {"table: t", "table: u", false},
		"host":      {"@h/db", "@g/db", false},
		"sink":      {"path: out/", "path: out2/", false},
		"columns":   {"from: y", "from: z", false},
		"order":     {"[id, {name: x, from: y}]", "[{name: x, from: y}, id]", false},
		"where":     {"a > 1", "a > 2", false},
		"connector": {"csv: {path: out/}", "pit: ", false},
		"mode":      {"table: t", "table: t, mode: overwrite", false},
	} {
		j := mustParse(t, strings.Replace(printed, c.from, c.to, 1), Vars{})
		if (j.Hash() == base.Hash()) != c.same {
			t.Errorf("%s: same hash is %v", name, !c.same)
		}
		if diffs := j.Diff(base.Fingerprint()); (len(diffs) == 0) != c.same {
			t.Errorf("%s: diff %v", name, diffs)
		}
	}
}

func TestDiffNamesWhatChanged(t *testing.T) {
	base := mustParse(t, printed, Vars{})
	r := strings.NewReplacer("table: t", "mode: overwrite", "@h/db", "@g/db", "out/", "in/", "from: y", "value: 1", "a > 1", "a > 2")
	got := strings.Join(mustParse(t, r.Replace(printed), Vars{}).Diff(base.Fingerprint()), "\n")
	want := `source option "mode" was not given and is "overwrite"
source option "table" was "t" and is not given
source option "url" was "postgres://u:***@h/db" and is "postgres://u:***@g/db"
sink option "path" was "out/" and is "in/"
columns was [id, x from y] and is [id, x = "1" as int64]
where was "a > 1" and is "a > 2"`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFingerprintHoldsNoSecret(t *testing.T) {
	j := mustParse(t, `
source: {postgres: {url: "${env:PG_URL}", table: "${env:PG_URL}", key: "${file:/run/pw}"}}
sink: {csv: {path: "x?password=hunter22"}}
columns: [{name: a, value: "${env:PG_URL}"}]
where: a = '${env:PG_URL}'
`, testVars())
	data, err := json.Marshal(j.Fingerprint())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter22", "from-file", "postgres://"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%s stands in %s", secret, data)
		}
	}
	var back Fingerprint
	if err := json.Unmarshal(data, &back); err != nil || len(j.Diff(back)) != 0 {
		t.Errorf("a stored fingerprint differs from itself: %v, %v", err, j.Diff(back))
	}
}

func TestYAMLMakesTheSameJob(t *testing.T) {
	for name, text := range map[string]string{
		"full":     printed + "parallelism: 3\nerrors: {percentage: 2, dirty: d}\ncheckpoint: {interval: 1s}\nrestart: {attempts: 1}\n",
		"escapes":  "source: {csv: {path: 'a$${b}: c', null: '', header: 'true', types: {x: '1', y: 'no'}}}\nsink: {pit: }\ncolumns: [\"a: b\", {name: q, value: '007'}, {name: z, value: null}, '*']\nwhere: \"x = '$${q}'\"\n",
		"constant": "source: {csv: {path: '1e3'}}\nsink: {pit: }\ncolumns: [{name: n, value: 12}, {name: t, value: 'true'}]\n",
	} {
		j := mustParse(t, text, Vars{})
		out := j.YAML()
		if strings.Contains(out, "one-secret") {
			t.Errorf("%s: a secret stands in\n%s", name, out)
		}
		back := mustParse(t, out, Vars{Env: func(string) (string, bool) { return "one-secret", true }})
		if diffs := back.Diff(j.Fingerprint()); len(diffs) > 0 && name != "full" {
			t.Errorf("%s: %v\n%s", name, diffs, out)
		}
		if name == "full" && (back.Source.Options.(*tableOptions).URL != j.Source.Options.(*tableOptions).URL || back.Errors != j.Errors ||
			back.Checkpoint != j.Checkpoint || back.Restart != j.Restart || back.Parallelism != 3) {
			t.Errorf("got\n%s", out)
		}
	}
}
