package suite

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/bench/dataset"
	"github.com/leatdata/leat/bench/pgserver"
	"github.com/leatdata/leat/bench/process"
)

// env starts a server and returns an Env of few rows around it.
func env(t *testing.T) *Env {
	t.Helper()
	server, err := pgserver.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &Env{Server: server, Data: t.TempDir(), Out: t.TempDir(), Rows: 3000}
}

// peers leaves leat out of a case.
func peers(c Case) Case {
	c.Contenders = slices.DeleteFunc(c.Contenders, Contender.Ours)
	return c
}

// TestPeersAgree runs every case with its peers: two halves side by side leave
// what the whole does, in every table.
func TestPeersAgree(t *testing.T) {
	t.Parallel()
	e := env(t)
	for _, planned := range e.Plan() {
		c, err := planned.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c = peers(c)
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
}

// TestWrongCopiesAreCaught lets a contender copy what it should not.
func TestWrongCopiesAreCaught(t *testing.T) {
	t.Parallel()
	e := env(t)
	c, err := e.load("mixed", dataset.Lineitem(), e.Rows, "UNLOGGED", goals{})
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
			commands[0].Args = append(commands[0].Args, "--command", damage)
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
	c = peers(c)
	ordered := c.Contenders[0]
	psql := func(query string) func() ([]process.Command, error) {
		return func() ([]process.Command, error) {
			commands, err := ordered.commands()
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
	c, err := e.small()[0].Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, peers(c), 1, io.Discard); err == nil {
		t.Error("a run went on after its context had ended")
	}
}
