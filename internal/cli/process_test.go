package cli

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

func TestStandardStreams(t *testing.T) {
	p, exit := testenv.RunProcess(t, testenv.Command{
		Path: testenv.Leat(t), Args: []string{"copy", "-", "-", "--summary", "json", "--progress", "none"},
		Dir: t.TempDir(), Stdin: strings.NewReader(people),
	})
	if exit.Code != 0 || p.Stdout() != people {
		t.Fatalf("exit %+v\nstdout %q\nstderr %s", exit, p.Stdout(), p.Stderr())
	}
	var summary map[string]any
	if err := json.Unmarshal([]byte(p.Stderr()), &summary); err != nil || summary["written"] != 3.0 {
		t.Errorf("the summary is not on standard error: %v, %s", err, p.Stderr())
	}
}

func TestSignalsKeepTheState(t *testing.T) {
	dir := t.TempDir()
	command := testenv.Command{
		Path: testenv.Leat(t), Args: []string{"copy", "stream:?rows=0", "stream:?print=true", "--progress", "none"}, Dir: dir,
	}
	for i, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := testenv.StartProcess(t, command)
		p.WaitStdout(t, "id=")
		p.Signal(t, signal)
		if exit := p.Wait(t); exit.Code != exitInterrupted {
			t.Fatalf("%s: exit %+v\n%s", signal, exit, p.Stderr())
		}
		if !strings.Contains(p.Stderr(), "leat: interrupted: the state is kept in .leat/copy-") || !strings.Contains(p.Stderr(), "go on with: leat copy 'stream:?rows=0'") {
			t.Errorf("%s: %s", signal, p.Stderr())
		}
		if went := strings.Contains(p.Stderr(), "going on with the unfinished run"); went != (i > 0) {
			t.Errorf("%s: goes on: %v", signal, went)
		}
	}
}

// A process that cannot end, since nobody reads what it writes, ends at the
// next signal.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	cmd := exec.Command(testenv.Leat(t), "copy", "stream:?rows=0", "stream:?print=true", "--progress", "none")
	cmd.Dir = t.TempDir()
	cmd.Env = os.Environ()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if _, err := bufio.NewReaderSize(read, 16).ReadByte(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			_ = cmd.Process.Signal(os.Interrupt)
		case <-ended:
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || status.Signal() != syscall.SIGINT && status.ExitStatus() != exitInterrupted {
				t.Errorf("ended by %s", cmd.ProcessState)
			}
			return
		}
	}
}

func TestOneProcessPerJob(t *testing.T) {
	dir := t.TempDir()
	command := testenv.Command{
		Path: testenv.Leat(t), Args: []string{"copy", "stream:?rows=0", "stream:?print=true", "--progress", "none"}, Dir: dir,
	}
	first := testenv.StartProcess(t, command)
	first.WaitStdout(t, "id=")
	second, exit := testenv.RunProcess(t, command)
	if exit.Code != exitUsage || !strings.Contains(second.Stderr(), "another process runs this job") {
		t.Errorf("the second: exit %+v\n%s", exit, second.Stderr())
	}
	first.Kill(t)
}
