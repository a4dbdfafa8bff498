package cases

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// A target file that its source's pattern takes is read with the others the
// next time: that is refused. A run that a crash stopped after the rename still
// ends, for it has read them all before.
func TestTargetWithinTheSourcesPattern(t *testing.T) {
	s := newScene(t)
	s.write("a.csv", "id\n1\n")
	s.write("b.csv", "id\n2\n")
	const text = "name: joined\nsource: {csv: {path: \"{dir}/*.csv\"}}\nsink: {csv: {path: \"{dir}/c.csv\"}}\n"
	s.write("job.yaml", s.fill(text))
	command := testenv.Command{Path: binary(t), Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}}
	killed := command
	killed.Env = []string{"LEAT_FAILPOINT=after-finish:0:kill"}
	if p, exit := testenv.RunProcess(t, killed); exit.Code == 0 {
		t.Fatalf("it was not killed\n%s", p.Stderr())
	}
	equal(t, "the file after the kill", s.text("c.csv"), "id\n1\n2\n")
	if p, exit := testenv.RunProcess(t, command); exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
	equal(t, "the file", s.text("c.csv"), "id\n1\n2\n")
	if _, err := s.run(text); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "the same place") {
		t.Errorf("once more: %v", err)
	}
	equal(t, "the file after it was refused", s.text("c.csv"), "id\n1\n2\n")
}
