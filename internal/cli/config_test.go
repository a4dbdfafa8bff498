package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigPrintsValuesAndSources(t *testing.T) {
	name := filepath.Join(t.TempDir(), "leat.yaml")
	if err := os.WriteFile(name, []byte("high-availability.zookeeper.client.digest: me:hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs := &strings.Builder{}, &strings.Builder{}
	env := Env{Stdout: out, Stderr: errs, Environ: func() []string { return []string{"LEAT_HEARTBEAT_TIMEOUT=1m"} }}
	if code := Main(t.Context(), []string{"config", "--config", name, "--set", "heartbeat.interval=1s"}, env); code != exitDone {
		t.Fatal(code, errs)
	}
	lines := map[string]bool{}
	for line := range strings.SplitSeq(out.String(), "\n") {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"heartbeat.interval: 1s # flag", "heartbeat.timeout: 1m # environment LEAT_HEARTBEAT_TIMEOUT",
		"high-availability.type: none # default", `high-availability.storageDir: "" # default`,
		"high-availability.zookeeper.client.digest: **** # " + name,
	} {
		if !lines[want] {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
	if code := Main(t.Context(), []string{"config", "--set", "heartbeat.intervall=1s"}, env); code != exitUsage {
		t.Error(code)
	}
	if !strings.Contains(errs.String(), "did you mean heartbeat.interval?") {
		t.Error(errs)
	}
}
