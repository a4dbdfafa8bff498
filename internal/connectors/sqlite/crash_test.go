package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
	"github.com/leatdata/leat/internal/database"
)

const childVariable = "LEAT_SQLITE_CHILD"

// transfer is a run of one split that a child or a test drives: rows 1 to
// rows, in batches and commits of step rows.
type transfer struct {
	Path, Mode, Run string
	Epoch           uint64
	Rows, Step      int
	// Point and Pass name the failpoint at which to die or stop, and how
	// often to pass it first; Hold makes the child only hold a write lock.
	Point  string
	Pass   int
	Signal syscall.Signal
	Hold   bool
	// Wait is how long to wait for locks.
	Wait time.Duration
}

func (tr transfer) sink() (*Sink, error) {
	o := new(SinkOptions)
	if err := option.Parse(map[string]any{"path": tr.Path, "table": "t", "mode": tr.Mode}, o); err != nil {
		return nil, err
	}
	passed := 0
	s := NewSink(o, connector.SinkEnv{Failpoint: func(point string) {
		if point != tr.Point {
			return
		}
		if passed++; passed == tr.Pass+1 {
			_ = syscall.Kill(os.Getpid(), tr.Signal)
		}
	}})
	if tr.Wait > 0 {
		s.db.wait = tr.Wait
	}
	return s, nil
}

// drive does what is left of the run.
func (tr transfer) drive(ctx context.Context) error {
	s, err := tr.sink()
	if err != nil {
		return err
	}
	in := &batch.Schema{Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, {Name: "v", Type: batch.Of(batch.Text)}}}
	if tr.Mode == database.Upsert {
		in.Key = []string{"id"}
	}
	if _, err := s.Resolve(ctx, in); err != nil {
		return err
	}
	run := connector.Run{ID: tr.Run, Job: "job", JobHash: "hash"}
	if err := s.Prepare(ctx, run); errors.Is(err, connector.ErrFinished) {
		return nil
	} else if err != nil {
		return err
	}
	if err := s.Register(ctx, run, []connector.Split{{ID: 0}}); err != nil {
		return err
	}
	w, state, err := s.Claim(ctx, connector.Attempt{Run: run, Token: connector.NewToken(tr.Epoch, 1), Reject: func(_ *batch.Batch, _ int, _ string, _ batch.Cause, reason string) { panic(reason) }})
	if err != nil {
		return err
	}
	if w != nil {
		defer w.Close()
		if err := tr.write(ctx, w, in, state); err != nil {
			return err
		}
	}
	states, err := s.States(ctx, run)
	if err != nil {
		return err
	}
	if len(states) != 1 || !states[0].Done || states[0].Counters.Written != int64(tr.Rows) || !states[0].Counters.Balanced() {
		return fmt.Errorf("the target's states are %+v", states)
	}
	return s.Finish(ctx, run, states)
}

// write goes on after the state's position, the number of the last row.
func (tr transfer) write(ctx context.Context, w connector.Writer, in *batch.Schema, state connector.SplitState) error {
	next := 0
	if state.Position != "" {
		var err error
		if next, err = strconv.Atoi(string(state.Position)); err != nil {
			return err
		}
	}
	for next < tr.Rows {
		b := new(batch.Batch)
		b.Reset(in)
		for range tr.Step {
			next++
			b.Append(strconv.AppendInt(nil, int64(next), 10))
			b.Append([]byte("row"))
		}
		b.Seal()
		if err := w.Write(ctx, b); err != nil {
			return err
		}
		state.Counters.Read += int64(tr.Step)
		state.Position = connector.Position(strconv.Itoa(next))
		state.Done = next == tr.Rows
		var err error
		if state, err = w.Commit(ctx, state); err != nil {
			return err
		}
	}
	return w.Close()
}

// runChild is the child process.
func runChild(text string) error {
	var tr transfer
	if err := json.Unmarshal([]byte(text), &tr); err != nil {
		return err
	}
	if !tr.Hold {
		return tr.drive(context.Background())
	}
	c, err := native.Open(tr.Path, native.CreateMode, lockWait)
	if err != nil {
		return err
	}
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("locked")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, c.Close())
}

// child starts this test's binary as a child that drives the transfer.
func (tr transfer) child(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// killed runs the child and fails unless it died of SIGKILL.
func (tr transfer) killed(t *testing.T) {
	t.Helper()
	out, err := tr.child(t).CombinedOutput()
	ee, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ee.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended with %v and said %s", err, out)
	}
}

func numbered(rows int) []string {
	var want []string
	for i := range rows {
		want = append(want, fmt.Sprintf(`%d "row"`, i+1))
	}
	return want
}

// Exactness rules 2, 3, 7: killed at any named point, the run goes on and the
// target has each record once.
func TestKillAtNamedPoints(t *testing.T) {
	for _, mode := range []string{"append", "overwrite", "truncate", "upsert"} {
		for _, point := range []string{"after-prepare", "after-claim", "before-commit", "after-commit", "before-finish", "after-finish"} {
			t.Run(mode+"/"+point, func(t *testing.T) {
				f := newFile(t)
				if mode != "append" {
					f.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (3, 'old')")
				}
				tr := transfer{Path: f.path, Mode: mode, Run: "r", Epoch: 1, Rows: 30, Step: 10, Point: point, Signal: syscall.SIGKILL}
				if strings.HasSuffix(point, "commit") {
					tr.Pass = 1
				}
				tr.killed(t)
				tr.Epoch, tr.Point = 2, ""
				if err := tr.drive(t.Context()); err != nil {
					t.Fatal(err)
				}
				equal(t, "rows", f.query("SELECT id, v FROM t ORDER BY id"), numbered(30))
				equal(t, "runs", f.query("SELECT run, state FROM leat_runs"), []string{`"r" "finished"`})
				if err := tr.drive(t.Context()); err != nil {
					t.Errorf("the finished run once more: %v", err)
				}
				equal(t, "rows after that", f.query("SELECT count(*) FROM t"), []string{"30"})
			})
		}
	}
}

// Exactness rule 2: nobody can be ended; the newer attempt fails cleanly, says
// who holds the file, and can be made again.
func TestFreezeHoldsTheFile(t *testing.T) {
	f := newFile(t)
	old := transfer{Path: f.path, Mode: "append", Run: "r", Epoch: 1, Rows: 30, Step: 10, Point: "before-commit", Pass: 1, Signal: syscall.SIGSTOP}
	cmd := old.child(t)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("status %v, error %v, output %s", status, err, &out)
	}
	newer := transfer{Path: f.path, Mode: "append", Run: "r", Epoch: 2, Rows: 30, Step: 10, Wait: 50 * time.Millisecond}
	err := newer.drive(t.Context())
	if connector.ClassOf(err) != connector.Retryable || !strings.Contains(err.Error(), fmt.Sprintf("locked by process %d", cmd.Process.Pid)) {
		t.Errorf("while the older attempt is stopped: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the older attempt: %v, %s", err, &out)
	}
	if err := newer.drive(t.Context()); err != nil {
		t.Errorf("after the older attempt: %v", err)
	}
	equal(t, "rows", f.query("SELECT id, v FROM t ORDER BY id"), numbered(30))
}

func TestAFileLockedByAnotherProgram(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE other(x)")
	cmd := transfer{Path: f.path, Hold: true}.child(t)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "locked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	tr := transfer{Path: f.path, Mode: "append", Run: "r", Epoch: 1, Rows: 10, Step: 10, Wait: 50 * time.Millisecond}
	err = tr.drive(t.Context())
	if connector.ClassOf(err) != connector.Retryable || !strings.Contains(err.Error(), fmt.Sprint("process ", cmd.Process.Pid)) {
		t.Errorf("a locked file: %v", err)
	}
	// A context ends the wait for the lock, however long that may be.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	tr.Wait = time.Hour
	if err := tr.drive(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ended: %v", err)
	}
	if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if err := tr.drive(t.Context()); err != nil {
		t.Errorf("once it is free: %v", err)
	}
	equal(t, "rows", f.query("SELECT id, v FROM t"), numbered(10))
}

// A source that reads the file which the sink writes holds a lock that no
// COMMIT outlasts, but for WAL mode.
func TestTheSameFileAsSourceAndSink(t *testing.T) {
	for mode, want := range map[string]connector.Class{"DELETE": connector.Permanent, "WAL": 0} {
		t.Run(mode, func(t *testing.T) {
			f := newFile(t)
			f.exec("PRAGMA journal_mode=" + mode + "; CREATE TABLE s(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 9000) INSERT INTO s SELECT i FROM n")
			source := f.source(SourceOptions{Table: "s", SplitRows: 1 << 40}, connector.SourceEnv{})
			schema, err := source.Schema(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			e, err := source.Enumerate(t.Context(), "", 0, connector.Want{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := source.Open(t.Context(), e.Splits[0], "")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			b := new(batch.Batch)
			b.Reset(schema)
			if err := r.Next(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			sink := f.sink(nil, nil)
			sink.db.wait = 50 * time.Millisecond
			_, _, err = f.load(sink, "r", schema, b)
			if mode == "WAL" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || connector.ClassOf(err) != want {
				t.Errorf("error %v, want class %s", err, want)
			}
		})
	}
}
