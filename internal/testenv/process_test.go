package testenv

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestProcessOutputAndExit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, exit := RunProcess(t, Command{
		Path:  "/bin/sh",
		Args:  []string{"-c", `cat; echo "$WORD $(pwd)" >&2; exit 3`},
		Env:   []string{"WORD=said"},
		Dir:   dir,
		Stdin: strings.NewReader("given"),
	})
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Stdout() != "given" || p.Stderr() != "said "+real+"\n" || exit.Code != 3 || exit.Signal != 0 {
		t.Errorf("stdout %q, stderr %q, exit %+v", p.Stdout(), p.Stderr(), exit)
	}
	if exit.MaxRSS <= 0 {
		t.Errorf("peak memory is %d", exit.MaxRSS)
	}
}

func TestProcessKill(t *testing.T) {
	t.Parallel()
	p := StartProcess(t, Command{Path: "/bin/sh", Args: []string{"-c", "echo up; exec cat"}, Stdin: neverEnds(t)})
	p.WaitStdout(t, "up")
	if exit := p.Kill(t); exit.Signal != syscall.SIGKILL || exit.Code != -1 {
		t.Errorf("exit is %+v", exit)
	}
	if alive(p.Pid()) {
		t.Error("the process is still there")
	}
	p.Signal(t, syscall.SIGTERM) // to an ended process: no error
}

func TestProcessFreezeAndThaw(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	p := StartProcess(t, Command{Path: "/bin/cat", Stdin: in})
	_ = in.Close()
	if !p.Freeze(t) {
		t.Fatal("a running process could not be frozen")
	}
	if _, err := out.WriteString("words"); err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Pid()), "stat"))
	if err != nil || !strings.Contains(string(state), ") T ") {
		t.Errorf("state is %q (%v)", state, err)
	}
	if p.Stdout() != "" {
		t.Errorf("a frozen process wrote %q", p.Stdout())
	}
	p.Thaw(t)
	p.WaitStdout(t, "words")
	p.Kill(t)
	if p.Freeze(t) {
		t.Error("an ended process was frozen")
	}
}

func TestBuildIsMadeOnceAndRuns(t *testing.T) {
	t.Parallel()
	const pkg = "./internal/testenv/testdata/hello"
	plain, again, tagged := Build(t, pkg), Build(t, pkg), Build(t, pkg, Tags("loud"))
	if plain != again {
		t.Errorf("built twice: %s and %s", plain, again)
	}
	for path, want := range map[string]string{plain: "hello\n", tagged: "HELLO\n"} {
		if p, exit := RunProcess(t, Command{Path: path}); p.Stdout() != want || exit.Code != 0 {
			t.Errorf("%s wrote %q, exit %+v; want %q", path, p.Stdout(), exit, want)
		}
	}
}

// neverEnds is an input that stays open until the test is over.
func neverEnds(t *testing.T) *os.File {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = out.Close() })
	return in
}
