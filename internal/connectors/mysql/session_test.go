package mysql

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// The server waits for a side that is slow, and no limit of its own ends what
// takes long.
func TestSessionsOutlastASlowSide(t *testing.T) {
	maria := testenv.MariaDBWith(t, "wait_timeout=1", "net_write_timeout=1", "net_read_timeout=1", "idle_transaction_timeout=1", "idle_readonly_transaction_timeout=1",
		"idle_write_transaction_timeout=1", "max_statement_time=1")
	url := maria.Database(t)
	for _, settings := range [][]string{{readerSettings, readerAccess}, {writerSettings, writerAccess}} {
		pool := must(newSessions(must(parseURL((&sourceRig{t: t, url: url}).options(nil).URL))(t), settings...))(t)
		defer pool.close()
		check(t, pool.with(t.Context(), func(s *session) error {
			row, err := s.one(t.Context(), `SELECT @@wait_timeout > 1000000, @@net_write_timeout > 600000, @@net_read_timeout > 600000, @@idle_transaction_timeout,
 @@idle_readonly_transaction_timeout, @@idle_write_transaction_timeout, @@max_statement_time = 0, @@time_zone, @@character_set_client, @@character_set_results, @@autocommit`)
			if err != nil {
				return err
			}
			var got []string
			for _, cell := range row {
				got = append(got, string(cell))
			}
			if want := "1 1 1 0 0 0 1 +00:00 utf8mb4 utf8mb4 1"; strings.Join(got, " ") != want {
				t.Errorf("settings are %q, want %s", got, want)
			}
			return nil
		}))
	}
}

// A reader's session changes nothing, whatever its query calls.
func TestReadersChangeNothing(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY); CREATE FUNCTION f() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (1); RETURN 1; END")
	s := r.source(map[string]any{"query": "SELECT f() AS x"}, connector.SourceEnv{})
	if _, err := readUntil(t, s, connector.Split{Spec: "{}"}, func() {}); numberOf(err) != 1792 {
		t.Errorf("reading ends with %v", err)
	}
	r.maria.Expect(t, r.url, "SELECT count(*) FROM t", "0")
}

// Idle sessions that the server ended in a restart are passed over.
func TestIdleSessionsThatHaveEnded(t *testing.T) {
	maria := testenv.MariaDBWith(t)
	r := &sourceRig{t: t, maria: maria, url: maria.Database(t)}
	maria.Exec(t, r.url, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	s := r.source(nil, connector.SourceEnv{})
	split := allSplits(t, s, connector.Want{Ordered: true})[0]
	readers := make([]connector.Reader, 5)
	for i := range readers {
		readers[i] = must(s.Open(t.Context(), split, ""))(t)
	}
	for _, rd := range readers {
		b := new(batch.Batch)
		b.Reset(must(s.Schema(t.Context()))(t))
		check(t, rd.Next(t.Context(), b))
		b.Reset(b.Schema)
		if err := rd.Next(t.Context(), b); !errors.Is(err, io.EOF) {
			t.Errorf("the end is %v", err)
		}
		check(t, rd.Close())
	}
	maria.Restart(t)
	if rows, _ := readFrom(t, s, split, ""); strings.Join(rows, " ") != "1" {
		t.Errorf("read %q", rows)
	}
}
