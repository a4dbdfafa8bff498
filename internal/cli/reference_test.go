package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// update rewrites what the tests here compare with:
//
//	go test ./internal/cli -run Reference -update
var update = flag.Bool("update", false, "rewrite generated files") //nolint:gochecknoglobals // a flag of the test binary

// The reference of the connectors is made from the declarations that parse
// their options.
func TestConnectorReferenceIsGenerated(t *testing.T) {
	checkGenerated(t, filepath.Join("docs", "reference", "connectors.md"), connectorReference(connectors.All()), "what the declarations say")
}

// checkGenerated compares a file of the project with what it is made from, and
// rewrites it when asked to.
func checkGenerated(t *testing.T, file string, want []byte, from string) {
	t.Helper()
	name := filepath.Join(testenv.ModuleRoot(t), file)
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not %s: run go test ./internal/cli -run Reference -update", name, from)
	}
}

func connectorReference(registry *connector.Registry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Connectors\n\nMade from the declarations of the options, by `go test ./internal/cli -run Reference -update`.\n")
	for _, name := range registry.Names() {
		d := registry.Lookup(name)
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", d.Name, strings.ToUpper(d.Doc[:1])+d.Doc[1:])
		if d.Source != nil {
			optionTable(&b, "As a source", option.Describe(d.Source.Options()))
		}
		if d.Sink != nil {
			optionTable(&b, "As a sink", option.Describe(d.Sink.Options()))
		}
		if len(d.Types) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### Types of %s\n\n| %s | Leat | |\n| --- | --- | --- |\n", d.Name, d.Name)
		for _, r := range d.Types {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cellText(r.Native), cellText(r.Type.String()), cellText(r.Note))
		}
	}
	return b.Bytes()
}

func optionTable(b *bytes.Buffer, title string, docs []option.Doc) {
	fmt.Fprintf(b, "\n### %s\n\n", title)
	if len(docs) == 0 {
		fmt.Fprintf(b, "No options.\n")
		return
	}
	fmt.Fprintf(b, "| option | type | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, d := range docs {
		kind, def := d.Type, ""
		if len(d.Enum) > 0 {
			kind = strings.Join(d.Enum, ", ")
		}
		switch {
		case d.Required:
			def = "required"
		case d.Default != "":
			def = "`" + d.Default + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", d.Name, cellText(kind), cellText(def), cellText(d.Doc))
	}
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// The reference of the command line names all commands and flags, and no other.
func TestCommandReferenceIsWhole(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(testenv.ModuleRoot(t), "docs", "reference", "cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	env := ProcessEnv()
	known := map[string]bool{}
	for _, cmd := range newRoot(&env).Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Hidden {
			continue
		}
		if !strings.Contains(text, "leat "+cmd.Use) {
			t.Errorf("no command %s", cmd.Use)
		}
		eachFlag(cmd, func(f *pflag.Flag) {
			known[f.Name] = true
			if !strings.Contains(text, "`--"+f.Name) {
				t.Errorf("no flag --%s of %s", f.Name, cmd.Name())
			}
		})
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		if name, ok := strings.CutPrefix(word, "--"); ok && strings.Trim(name, "-") != "" && !known[name] {
			t.Errorf("there is no flag %s", word)
		}
	}
}

func eachFlag(cmd *cobra.Command, f func(*pflag.Flag)) {
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" {
			f(flag)
		}
	})
}

// The reference of the job file names all its keys, with their defaults.
func TestJobFileReferenceIsWhole(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(testenv.ModuleRoot(t), "docs", "reference", "job-file.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]string{}
	for part := range strings.SplitSeq(string(data), "\n## ") {
		names, body, _ := strings.Cut(part, "\n")
		for name := range strings.SplitSeq(names, ", ") {
			headings[name] = body
		}
	}
	for _, key := range job.Keys() {
		if headings[key] == "" {
			t.Errorf("no section %q", key)
		}
	}
	sections := append(job.Sections(), job.Section{Name: "columns", Keys: job.ColumnKeys()})
	for _, s := range sections {
		for _, key := range s.Keys {
			row := slices.IndexFunc(strings.Split(headings[s.Name], "\n"), func(line string) bool {
				return strings.Contains(line, key.Name) && strings.Contains(line, key.Default)
			})
			if row < 0 {
				t.Errorf("section %s says nothing of %s with its default %q", s.Name, key.Name, key.Default)
			}
		}
	}
}
