package process

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// busy is a shell command that computes for a while.
const busy = `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`

func TestMeasureCountsProcessorTime(t *testing.T) {
	t.Parallel()
	u, err := Measure(t.Context(), []int{os.Getpid()},
		Command{Path: "/bin/sh", Args: []string{"-c", busy}}, Command{Path: "/bin/sh", Args: []string{"-c", busy}})
	if err != nil {
		t.Fatal(err)
	}
	if u.Client < 20*time.Millisecond || u.Client > 2*u.Wall+20*time.Millisecond {
		t.Errorf("the programs took %s of processor time in %s", u.Client, u.Wall)
	}
	// Our own children are the server's here: their time must show, ended as they are.
	if u.Server < u.Client-4*tick {
		t.Errorf("the tree took %s, its programs alone %s", u.Server, u.Client)
	}
	if u.MaxRSS < 500<<10 {
		t.Errorf("peak memory is %d bytes", u.MaxRSS)
	}
}

func TestMeasureReportsFailure(t *testing.T) {
	t.Parallel()
	_, err := Measure(t.Context(), []int{os.Getpid()}, Command{Path: "/bin/sh", Args: []string{"-c", "echo because >&2; exit 3"}})
	if err == nil || !strings.Contains(err.Error(), "exit status 3\nbecause") {
		t.Errorf("got %v", err)
	}
	if _, err := Measure(t.Context(), []int{os.Getpid()}, Command{Path: "/nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestMeasureEndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Measure(ctx, []int{os.Getpid()}, Command{Path: "/bin/sh", Args: []string{"-c", "exec sleep 600"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A pipe is one command: each program in it counts, and each that fails.
func TestMeasureRunsPipes(t *testing.T) {
	t.Parallel()
	shell := func(script string, from *Command) Command {
		return Command{Path: "/bin/sh", Args: []string{"-c", script}, From: from}
	}
	first := shell(busy+"; printf 'a\nb\n'", nil)
	second := shell("cat; "+busy, &first)
	u, err := Measure(t.Context(), nil, shell(`test "$(cat)" = "$(printf 'a\nb')" && `+busy, &second))
	if err != nil {
		t.Fatal(err)
	}
	one, err := Measure(t.Context(), nil, shell(busy, nil))
	if err != nil {
		t.Fatal(err)
	}
	if u.Client < 2*one.Client {
		t.Errorf("three programs took %s of processor time, one of them alone %s", u.Client, one.Client)
	}
	broken := shell("echo because >&2; exit 3", nil)
	if _, err := Measure(t.Context(), nil, shell("cat", &broken)); err == nil || !strings.Contains(err.Error(), "exit status 3\nbecause") {
		t.Errorf("got %v", err)
	}
	missing := Command{Path: "/nowhere"}
	if _, err := Measure(t.Context(), nil, shell("cat", &missing)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
