package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folders are flags that keep a run within the test's folders.
func folders(t *testing.T) []string {
	t.Helper()
	return []string{"-data", t.TempDir(), "-out", filepath.Join(t.TempDir(), "out"), "-pairs", "2", "-rows", "1000"}
}

// TestRunBuildsLeatAndMeasuresIt copies a few rows with leat and its peers.
func TestRunBuildsLeatAndMeasuresIt(t *testing.T) {
	t.Parallel()
	var out, progress bytes.Buffer
	args := append(folders(t), "-run", "sqlite")
	if err := run(t.Context(), args, &out, &progress); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Made by `cd bench && go run . -rows 1000 -pairs 2`", "medians of 2 rounds", "Measured beside: sqlite3 3.",
		"### csv ↔ sqlite", "| csv → sqlite, mixed | 333 | 0 | sqlite3 .import | 1 |", "| sqlite → csv, mixed | 333 | 0 | leat, a folder | 2 |",
		"under 100 MB: passed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if want := "sqlite → csv, mixed: leat, a folder, streams 2, round 2: "; !strings.Contains(progress.String(), want) {
		t.Errorf("no %q in\n%s", want, progress.String())
	}
}

// TestFailedCaseDoesNotKeepOthersFromRunning gives a leat that copies nothing.
func TestFailedCaseDoesNotKeepOthersFromRunning(t *testing.T) {
	t.Parallel()
	leat := filepath.Join(t.TempDir(), "leat")
	script := `#!/bin/sh
case $1 in
connectors) printf 'csv  \nsqlite  \n' ;;
*) echo "no copy" >&2; exit 1 ;;
esac
`
	if err := os.WriteFile(leat, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), append(folders(t), "-run", "sqlite", "-leat", leat), io.Discard, io.Discard)
	for _, want := range []string{"csv → sqlite, mixed: leat, streams 1: ", "sqlite → csv, mixed: leat, one file, streams 1: ", "no copy"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), append(folders(t), "-run", "sqlite", "-peers"), &out, io.Discard); err != nil {
		t.Error(err)
	}
	if text := out.String(); strings.Contains(text, "leat, ") || strings.Contains(text, "Limits") || !strings.Contains(text, "sqlite3 -csv") {
		t.Errorf("the peers alone give\n%s", text)
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-run", "("}, {"-rows", "10"}, {"-pairs", "0"}, {"mixed"}, {"-only", "mixed"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	for _, args := range [][]string{{"-run", "mixed"}, {"-peers"}} {
		if o, err := parse(args, io.Discard); err != nil || o.document != "" {
			t.Errorf("%q would change %q (%v)", args, o.document, err)
		}
	}
	err := run(context.Background(), append(folders(t), "-run", "nothing like it", "-peers"), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `no case matches "nothing like it"`) {
		t.Errorf("got %v", err)
	}
}
