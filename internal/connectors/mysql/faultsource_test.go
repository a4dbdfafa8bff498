package mysql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// long is a table whose rows do not fit the buffers between us and the server.
const long = "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t SELECT seq, repeat('x', 500) FROM seq_1_to_30000"

// readUntil reads a split until an error, and calls after the first batch.
func readUntil(t *testing.T, s *Source, split connector.Split, after func()) (rows int, err error) {
	t.Helper()
	rd, err := s.Open(t.Context(), split, "")
	if err != nil {
		return 0, err
	}
	defer func() { check(t, rd.Close()) }()
	schema := must(s.Schema(t.Context()))(t)
	b := new(batch.Batch)
	for i := 0; ; i++ {
		b.Reset(schema)
		if err := rd.Next(t.Context(), b); err != nil {
			if again := rd.Next(t.Context(), b); !errors.Is(again, err) {
				t.Errorf("after %v comes %v", err, again)
			}
			return rows, err
		}
		rows += b.Rows
		if i == 0 {
			after()
		}
	}
}

// A connection that is lost, or a session or statement that is ended, is an
// error that may be tried again, never an early end (exactness rule 12).
func TestCutOrKilledReadersEndWithAnError(t *testing.T) {
	r := newSourceRig(t, long)
	for name, fault := range map[string]func(p *testenv.Proxy){
		"reset":      func(p *testenv.Proxy) { p.CutAll() },
		"finish":     func(p *testenv.Proxy) { p.Style(testenv.Finish); p.CutAll() },
		"later":      func(p *testenv.Proxy) { p.Style(testenv.Finish); p.CutAfter(testenv.ToClient, 1<<20) },
		"KILL":       func(*testenv.Proxy) { r.killReaders("") },
		"KILL QUERY": func(*testenv.Proxy) { r.killReaders("QUERY") },
	} {
		for _, query := range []string{"", "SELECT * FROM t"} {
			t.Run(strings.TrimSpace(name+" "+query), func(t *testing.T) {
				p := testenv.NewProxy(t, r.maria.Addr())
				options := map[string]any{"url": strings.Replace(r.url, r.maria.Addr(), p.Addr(), 1)}
				if query != "" {
					options["query"] = query
				}
				s := r.source(options, connector.SourceEnv{})
				split := allSplits(t, s, connector.Want{Ordered: true})[0]
				rows, err := readUntil(t, s, split, func() { fault(p) })
				if connector.ClassOf(err) != connector.Retryable || errors.Is(err, io.EOF) || rows >= 30000 {
					t.Errorf("%d rows, then %v (%s)", rows, err, connector.ClassOf(err))
				}
			})
		}
	}
}

// killReaders ends the statements that read t, by a session of its own.
func (r *sourceRig) killReaders(what string) {
	r.t.Helper()
	ids := r.maria.Lines(r.t, r.url, "SELECT id FROM information_schema.processlist WHERE db = database() AND command = 'Query' AND id <> connection_id()")
	if len(ids) == 0 {
		r.t.Error("no statement reads the table")
	}
	for _, id := range ids {
		r.maria.Exec(r.t, r.url, "KILL "+what+" "+id)
	}
}

// A server that is gone is an error that may be tried again, at each step.
func TestAServerThatIsGone(t *testing.T) {
	r := newSourceRig(t, long)
	p := testenv.NewProxy(t, r.maria.Addr())
	s := r.source(map[string]any{"url": strings.Replace(r.url, r.maria.Addr(), p.Addr(), 1)}, connector.SourceEnv{})
	split := allSplits(t, s, connector.Want{Ordered: true})[0]
	p.RefuseNew(true)
	p.CutAll()
	if _, err := s.Open(t.Context(), split, ""); connector.ClassOf(err) != connector.Retryable {
		t.Errorf("open: %v (%s)", err, connector.ClassOf(err))
	}
	if _, err := s.Enumerate(t.Context(), "", 0, connector.Want{Parallelism: 1}); connector.ClassOf(err) != connector.Retryable {
		t.Errorf("enumerate: %v (%s)", err, connector.ClassOf(err))
	}
	p.RefuseNew(false)
	if rows, _ := readFrom(t, s, split, ""); len(rows) != 30000 {
		t.Errorf("%d rows once it is back", len(rows))
	}
}

// A reader that is closed in the middle leaves nothing running on the server.
func TestAClosedReaderEndsItsStatement(t *testing.T) {
	r := newSourceRig(t, long)
	s := r.source(map[string]any{"query": "SELECT a.id, sleep(0.001) AS n FROM t a JOIN t b"}, connector.SourceEnv{})
	schema := must(s.Schema(t.Context()))(t)
	rd := must(s.Open(t.Context(), allSplits(t, s, connector.Want{})[0], ""))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		b := new(batch.Batch)
		b.Reset(schema)
		ended <- rd.Next(ctx, b)
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Next ends with %v", err)
	}
	check(t, rd.Close())
	r.maria.Expect(t, r.url, "SELECT count(*) FROM information_schema.processlist WHERE db = database() AND command = 'Query' AND id <> connection_id() AND state <> 'Killed' AND info LIKE '%sleep%'", "0")
}

// The server's defaults do not change what is read.
func TestDefaultsOfTheServerDoNotMatter(t *testing.T) {
	maria := testenv.MariaDBWith(t, "default_time_zone=-05:00", "sql_mode=ANSI,PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES", "autocommit=0",
		"max_statement_time=1", "character_set_server=latin1", "transaction_isolation=SERIALIZABLE", "max_join_size=5")
	r := &sourceRig{t: t, maria: maria, url: maria.Database(t)}
	maria.Exec(t, r.url, "SET GLOBAL sql_select_limit = 3, net_write_timeout = 1; SET SESSION sql_mode = ''; SET max_statement_time = 0; SET sql_select_limit = DEFAULT, sql_big_selects = 1;"+
		"SET autocommit = 1; CREATE TABLE t (k varchar(5) PRIMARY KEY, c char(5), ts timestamp); SET time_zone = '+00:00'; INSERT INTO t SELECT if(seq = 1, '\\\\''\"', seq), 'c', '2024-03-10 02:30:00' FROM seq_1_to_9")
	s := r.source(map[string]any{"split_rows": 1}, connector.SourceEnv{Where: `c = "c" AND k <> '\\x'`})
	var want []string
	for i := 2; i < 10; i++ {
		want = append(want, fmt.Sprintf("%d|c|2024-03-10 02:30:00+00", i))
	}
	want = append(want, `\'"|c|2024-03-10 02:30:00+00`)
	rows, _ := readAll(t, s, connector.Want{Parallelism: 1})
	if got := strings.Join(rows, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// Only a statement that is still there is ended, never what has its number by now.
func TestClosingKillsNoOther(t *testing.T) {
	maria := testenv.MariaDBWith(t)
	r := &sourceRig{t: t, maria: maria, url: maria.Database(t)}
	maria.Exec(t, r.url, long)
	s := r.source(nil, connector.SourceEnv{})
	schema := must(s.Schema(t.Context()))(t)
	split := allSplits(t, s, connector.Want{Ordered: true})[0]
	kills := func() string {
		return maria.Lines(t, r.url, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Com_kill'")[0]
	}
	for restart, want := range map[bool]string{false: "1", true: "0"} {
		rd := must(s.Open(t.Context(), split, ""))(t)
		b := new(batch.Batch)
		b.Reset(schema)
		check(t, rd.Next(t.Context(), b))
		before := kills()
		if restart {
			maria.Restart(t)
			for before = kills(); ; {
				b.Reset(schema)
				if err := rd.Next(t.Context(), b); err != nil {
					break
				}
			}
		}
		check(t, rd.Close())
		if got := fmt.Sprint(atoi(t, kills()) - atoi(t, before)); got != want {
			t.Errorf("restarted %v: %s sessions were killed, want %s", restart, got, want)
		}
	}
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	return must(strconv.Atoi(text))(t)
}
