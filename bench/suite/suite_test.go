package suite

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/process"
)

// env returns an Env of few rows, whose servers end with the test.
func env(t *testing.T) *Env {
	t.Helper()
	e := &Env{Data: t.TempDir(), Out: t.TempDir(), DuckDB: "../duckdb", Rows: 3000}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestPeersAgree runs every case with its peers: all leave the same, in every
// system.
func TestPeersAgree(t *testing.T) {
	t.Parallel()
	e := env(t)
	for _, planned := range e.Plan() {
		c, err := planned.Make(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", planned.Name, err)
		}
		c = c.WithoutLeat()
		result, err := e.Run(t.Context(), c, 2, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for i, contender := range c.Contenders {
			u := result.Median(i)
			if len(result.Rounds[i]) != 2 || u.Wall <= 0 || u.Client <= 0 || u.MaxRSS <= 0 {
				t.Errorf("%s, %s: %d rounds, %+v", c.Name, contender.Name, len(result.Rounds[i]), u)
			}
		}
	}
	for _, want := range []string{"PostgreSQL, psql and pg_dump 1", "MariaDB and its clients 1", "pgloader 3", "DuckDB v1", "sqlite3 3"} {
		if !strings.Contains(strings.Join(e.Software(), "; "), want) {
			t.Errorf("%q is not among the software used: %q", want, e.Software())
		}
	}
}

// TestGoalsNamePeers holds that each case starts with a peer, and that goals are
// against peers that the case has.
func TestGoalsNamePeers(t *testing.T) {
	t.Parallel()
	e := env(t)
	ours := 0
	for _, planned := range e.Plan() {
		c, err := planned.Make(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", planned.Name, err)
		}
		if c.Contenders[0].Ours() {
			t.Errorf("%s has no peer first", c.Name)
		}
		for _, contender := range c.Contenders {
			if contender.Ours() {
				ours++
			} else if len(contender.Goals) > 0 {
				t.Errorf("%s: the peer %s has goals", c.Name, contender.Name)
			}
			for _, goal := range contender.Goals {
				if i := c.Peer(goal.Against); i < 0 || c.Contenders[i].Ours() {
					t.Errorf("%s: %s is measured against %q, no peer", c.Name, contender.Name, goal.Against)
				}
			}
		}
	}
	if ours < len(e.Plan()) {
		t.Errorf("leat has part in %d copies of %d cases", ours, len(e.Plan()))
	}
}

// TestCheckNamesWhatIsMissing gives cases a leat that has two connectors.
func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	e := env(t)
	e.Leat = filepath.Join(t.TempDir(), "leat")
	if err := os.WriteFile(e.Leat, []byte("#!/bin/sh\necho 'csv       source'\necho 'postgres  sink'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := e.Check(t.Context(), e.loads()); err != nil {
		t.Error(err)
	}
	err := e.Check(t.Context(), e.mysqls())
	if err == nil || !strings.Contains(err.Error(), "csv → mysql, mixed needs connector mysql") {
		t.Errorf("got %v", err)
	}
}

// TestWrongCopiesAreCaught lets a contender copy what it should not.
func TestWrongCopiesAreCaught(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.load(t.Context(), load{table: dataset.Lineitem(), rows: e.Rows, kind: "UNLOGGED"})
	if err != nil {
		t.Fatal(err)
	}
	good := c.Contenders[0]
	for name, damage := range map[string]string{
		"a row less":      "DELETE FROM li WHERE ctid = (SELECT max(ctid) FROM li)",
		"a row twice":     "WITH gone AS (DELETE FROM li WHERE ctid IN (SELECT min(ctid) FROM li UNION SELECT max(ctid) FROM li) RETURNING *), one AS (SELECT * FROM gone LIMIT 1) INSERT INTO li SELECT * FROM one UNION ALL SELECT * FROM one",
		"another decimal": "UPDATE li SET tax = tax + 0.01 WHERE ctid = (SELECT max(ctid) FROM li)",
		"an empty text":   "UPDATE li SET comment = '' WHERE ctid = (SELECT max(ctid) FROM li)",
	} {
		wrong := Contender{Name: "wrong", Streams: 1, commands: func() ([]process.Command, error) {
			commands, err := good.commands()
			commands[0].Args = append(slices.Clone(commands[0].Args), "--command", damage)
			return commands, err
		}}
		c.Contenders = []Contender{good, wrong}
		_, err = e.Run(t.Context(), c, 1, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "wrong, streams 1: the target holds") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestUnloadedFilesAreCompared(t *testing.T) {
	t.Parallel()
	e := env(t)
	plan := e.unloads()
	c, err := plan[0].Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c = c.WithoutLeat()
	ordered := c.Contenders[0]
	psql := func(query string) func() ([]process.Command, error) {
		return func() ([]process.Command, error) {
			commands, err := ordered.commands()
			commands[0].Args = slices.Clone(commands[0].Args)
			last := len(commands[0].Args) - 1
			commands[0].Args[last] = strings.Replace(commands[0].Args[last], "select * from li", query, 1)
			return commands, err
		}
	}
	shuffled := Contender{Name: "shuffled", Streams: 1, commands: psql("select * from li order by comment")}
	short := Contender{Name: "short", Streams: 1, commands: psql("select * from li offset 1")}
	c.Contenders = []Contender{ordered, shuffled}
	if _, err := e.Run(t.Context(), c, 1, io.Discard); err != nil {
		t.Errorf("the order of records must not matter: %v", err)
	}
	c.Contenders = []Contender{ordered, short}
	if _, err := e.Run(t.Context(), c, 1, io.Discard); err == nil || !strings.Contains(err.Error(), "holds 2999 rows") {
		t.Errorf("got %v", err)
	}
}

func TestRunEndsWithContext(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.small(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, c.WithoutLeat(), 1, io.Discard); err == nil {
		t.Error("a run went on after its context had ended")
	}
}
