package postgres

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// sinkHarness makes sinks over tables of one database.
func sinkHarness(t *testing.T, setup string, options map[string]any) connectortest.SinkHarness {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	tables := 0
	return connectortest.SinkHarness{
		NewTarget: func(t testing.TB) connectortest.Target {
			tables++
			table := fmt.Sprintf("t%d", tables)
			pg.Exec(t, url, strings.ReplaceAll(setup, "@", table))
			values := map[string]any{"url": url, "table": table, "runs_table": "runs_" + table, "positions_table": "positions_" + table}
			maps.Copy(values, options)
			return connectortest.Target{
				Open: func() connector.Sink {
					o := new(SinkOptions)
					check(t, option.Parse(values, o))
					k := must(newSink(o, connector.SinkEnv{}))(t)
					k.evictor.Patience = 60 * time.Millisecond
					return k
				},
				Rows: func() []connectortest.Row {
					if !testenv.Value[bool](t, url, "SELECT to_regclass($1) IS NOT NULL", table) {
						return nil
					}
					o := new(SourceOptions)
					check(t, option.Parse(map[string]any{"url": url, "table": table}, o))
					return connectortest.ReadAll(t, must(newSource(o, connector.SourceEnv{Columns: []string{"id", "v"}}))(t))
				},
			}
		},
		Checks: 6,
	}
}

func TestSinkContract(t *testing.T) {
	const filled = "CREATE TABLE @ (id bigint PRIMARY KEY, v text CHECK (v <> 'bad')); INSERT INTO @ VALUES (-100, 'old')"
	old := []connectortest.Row{{"-100", "old"}}
	bad := func(id string) connectortest.Row { return connectortest.Row{id, "bad"} }
	zero := func(id string) connectortest.Row { return connectortest.Row{id, "a\x00b"} }
	t.Run("append", func(t *testing.T) {
		h := sinkHarness(t, filled, nil)
		h.Before, h.Refused = old, bad
		connectortest.RunSink(t, h)
	})
	t.Run("create", func(t *testing.T) {
		h := sinkHarness(t, "", nil)
		h.Refused = zero
		connectortest.RunSink(t, h)
	})
	t.Run("overwrite", func(t *testing.T) {
		h := sinkHarness(t, filled, map[string]any{"mode": "overwrite"})
		h.Before, h.Refused, h.Hides, h.Replaces = old, bad, true, true
		connectortest.RunSink(t, h)
	})
	t.Run("overwrite creates", func(t *testing.T) {
		h := sinkHarness(t, "", map[string]any{"mode": "overwrite"})
		h.Hides, h.Replaces, h.Refused = true, true, zero
		connectortest.RunSink(t, h)
	})
	t.Run("upsert", func(t *testing.T) {
		h := sinkHarness(t, filled, map[string]any{"mode": "upsert"})
		h.Before, h.Refused = old, bad
		connectortest.RunSink(t, h)
	})
	t.Run("deferred", func(t *testing.T) {
		h := sinkHarness(t, `CREATE TABLE IF NOT EXISTS labels (p text PRIMARY KEY); CREATE TABLE @ (id bigint PRIMARY KEY, v text,
  p text GENERATED ALWAYS AS (CASE v WHEN 'bad' THEN 'bad' END) STORED REFERENCES labels DEFERRABLE INITIALLY DEFERRED)`, nil)
		h.Refused = bad
		connectortest.RunSink(t, h)
	})
}

func TestSourceContract(t *testing.T) {
	const n = 12_000
	rows := make([]connectortest.Row, n)
	for i := range rows {
		rows[i] = connectortest.Row{fmt.Sprint(i + 1), fmt.Sprintf("value %d %s", i+1, strings.Repeat("x", 60))}
		if (i+1)%7 == 0 {
			rows[i][1] = connectortest.Null
		}
	}
	const fill = "; INSERT INTO t SELECT i, CASE WHEN i % 7 > 0 THEN 'value ' || i || ' ' || repeat('x', 60) END FROM generate_series(1, 12000) i; ANALYZE t"
	for name, c := range map[string]struct {
		setup       string
		options     map[string]any
		noPositions bool
	}{
		"key":    {"CREATE TABLE t (id int PRIMARY KEY, v text)", map[string]any{"table": "t", "split_rows": 3000}, false},
		"blocks": {"CREATE TABLE t (id int, v text)", map[string]any{"table": "t", "split_size": "300KiB"}, true},
		"query":  {"CREATE TABLE t (id int, v text)", map[string]any{"query": "SELECT * FROM t", "key": "id", "split_rows": 5000}, true},
	} {
		t.Run(name, func(t *testing.T) {
			pg := testenv.Postgres(t)
			url := pg.Database(t)
			pg.Exec(t, url, c.setup+fill)
			values := map[string]any{"url": url}
			maps.Copy(values, c.options)
			connectortest.RunSource(t, connectortest.SourceHarness{
				New: func(t testing.TB) connector.Source {
					o := new(SourceOptions)
					check(t, option.Parse(values, o))
					return must(newSource(o, connector.SourceEnv{}))(t)
				},
				Rows: rows, NoPositions: c.noPositions, Checks: 5,
			})
		})
	}
}
