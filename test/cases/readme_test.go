package cases

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// Each test that README.md names is there, in the folder that it names: of
// connectors by their name, of others by their path.
func TestTheTableOfCasesIsTrue(t *testing.T) {
	root := testenv.ModuleRoot(t)
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:([a-z/]+) )?\b(Test[A-Z]\w+)`).FindAllStringSubmatch(string(text), -1)
	if len(named) < 60 {
		t.Fatalf("%d tests are named", len(named))
	}
	for _, m := range named {
		folder := m[1]
		switch {
		case folder == "":
			folder = "test/cases"
		case !strings.Contains(folder, "/"):
			folder = "internal/connectors/" + folder
		}
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			code, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(code), "func "+m[2]+"(")
		}
		if !found {
			t.Errorf("%s has no %s", folder, m[2])
		}
	}
}
