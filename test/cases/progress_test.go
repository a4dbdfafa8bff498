package cases

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// Records, bytes and the share done rise while the job runs.
func TestProgressIsLive(t *testing.T) {
	s := newPostgres(t, "")
	var seen []local.Progress
	s.progress = func(p local.Progress) { seen = append(seen, p) }
	s.copied(300_000, "source: {stream: {rows: 300000, split_rows: 10000, columns: [id int64, a text, b text]}}\nsink: {postgres: {url: {pg}, table: t}}\nparallelism: 2\n")
	var between, last int64
	share := -1.0
	for _, p := range seen {
		if p.Read < last || p.Share < share {
			t.Errorf("progress goes back: %+v after %d records and %f", p, last, share)
		}
		last, share = p.Read, p.Share
		if p.Read > 0 && p.Read < 300_000 && p.BytesRead > 0 && p.Share > 0 && p.Share < 1 {
			between++
		}
	}
	if between < 2 || share != 1 {
		t.Errorf("%d signs of life of %d, the last share is %f", between, len(seen), share)
	}
}

// The last batch is counted once.
func TestTheLastBatchIsCountedOnce(t *testing.T) {
	for _, rows := range []int64{1050, 8193} {
		for _, sink := range []string{"postgres: {url: {pg}, table: t}", `sqlite: {path: "{dir}/o.db", table: t}`, `csv: {path: "{dir}/o.csv"}`} {
			s := newScene(t)
			if strings.HasPrefix(sink, "postgres") {
				s = newPostgres(t, "")
			}
			s.copied(rows, fmt.Sprintf("source: {stream: {rows: %d, split_rows: 9000, columns: [id int64]}}\nsink: {%s}\n", rows, sink))
		}
	}
}

// A job that waits for a lock in its target ends soon when it is told to.
func TestACancelledJobEndsSoon(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (id bigint)")
	locked := make(chan struct{})
	release := make(chan struct{})
	held := make(chan struct{})
	go func() {
		defer close(held)
		hold(t, s.url, locked, release)
	}()
	<-locked
	registry := connectors.All()
	j, err := job.Parse([]byte(s.fill("source: {stream: {rows: 1000, columns: [id int64]}}\nsink: {postgres: {url: {pg}, table: t}}\n")), "job.yaml", job.Vars{}, registry)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := local.New(local.Deps{Registry: registry}).Run(ctx, j, local.Options{StateDir: s.state})
		ended <- err
	}()
	s.awaitWaiting()
	cancel()
	// The lock is held until after that.
	if err := <-ended; !errors.Is(err, local.ErrInterrupted) {
		t.Errorf("it ended with %v", err)
	}
	close(release)
	<-held
}

// The binary ends by itself after its last record. How soon is measured by
// TestStartupOfATinyJob of test/measure.
func TestAnEndedJobExits(t *testing.T) {
	s := newPostgres(t, "")
	s.write("job.yaml", s.fill("source: {stream: {rows: 10, columns: [id int64]}}\nsink: {postgres: {url: {pg}, table: t, mode: truncate}}\n"))
	p, exit := testenv.RunProcess(t, testenv.Command{Path: binary(t), Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}})
	if exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
}

// A URL that cannot be parsed is told without any part of its password.
func TestAPasswordThatBreaksTheURL(t *testing.T) {
	s := newScene(t)
	for _, url := range []string{"postgres://u:se%ZZkumquat@h/db", "postgres://u:se kumquat@h/db", "postgres://u:se#kumquat@h/db", "host=h password='se%kumquat"} {
		for _, text := range []string{
			fmt.Sprintf("source: {postgres: {url: %q, table: t}}\nsink: {csv: {path: \"{dir}/o.csv\"}}\n", url),
			fmt.Sprintf("source: {stream: {}}\nsink: {postgres: {url: %q, table: t}}\n", url),
		} {
			s.write("job.yaml", s.fill(text))
			p, exit := testenv.RunProcess(t, testenv.Command{Path: binary(t), Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--log-level", "debug"}})
			said := p.Stdout() + p.Stderr()
			if exit.Code == 0 || strings.Contains(said, "kumquat") || strings.Contains(said, "se%") || strings.Contains(said, "u:se") {
				t.Errorf("exit code %d:\n%s", exit.Code, said)
			}
		}
	}
}

// hold locks the table t until it is released.
func hold(t *testing.T, url string, locked, release chan struct{}) {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Errorf("connect: %v", err)
		close(locked)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		t.Errorf("lock: %v", err)
	}
	close(locked)
	<-release
}

// awaitWaiting returns once a session waits for a lock.
func (s *scene) awaitWaiting() {
	s.t.Helper()
	for range 400 {
		if testenv.Value[int64](s.t, s.url, "SELECT count(*) FROM pg_stat_activity, pg_sleep(0.02) WHERE wait_event_type = 'Lock' AND datname = current_database()") > 0 {
			return
		}
	}
	s.t.Fatal("nobody waits for the lock")
}
