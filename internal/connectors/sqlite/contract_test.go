package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
)

func TestSourceContract(t *testing.T) {
	// Large texts make batches of few rows.
	const rows, pad = 40, 60000
	fill := fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) INSERT INTO t SELECT i, 'v' || i || hex(zeroblob(%d)), i / 8.0, i %% 2, x'0001', '2024-01-31 13:05:00' FROM n", rows, pad/2)
	const columns = "id INTEGER NOT NULL, v TEXT, r REAL, b BOOLEAN, raw BLOB, at DATETIME"
	var want []connectortest.Row
	for i := 1; i <= rows; i++ {
		ok := "false"
		if i%2 == 1 {
			ok = "true"
		}
		want = append(want, connectortest.Row{fmt.Sprint(i), fmt.Sprint("v", i) + strings.Repeat("0", pad), fmt.Sprint(float64(i) / 8), ok, "\x00\x01", "2024-01-31 13:05:00"})
	}
	for name, c := range map[string]struct {
		table       string
		options     SourceOptions
		noPositions bool
	}{
		"rowid":         {"CREATE TABLE t(" + columns + ")", SourceOptions{SplitRows: 25}, false},
		"without rowid": {"CREATE TABLE t(" + columns + ", PRIMARY KEY (id, r)) WITHOUT ROWID", SourceOptions{SplitRows: 25}, false},
		"query":         {"CREATE TABLE t(" + columns + ")", SourceOptions{Query: "SELECT * FROM t ORDER BY id"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t)
			f.exec(c.table + "; " + fill + "; INSERT INTO t VALUES (41, 'dirty', 1, 7, NULL, NULL)")
			connectortest.RunSource(t, connectortest.SourceHarness{
				New:  func(testing.TB) connector.Source { return f.source(c.options, connector.SourceEnv{}) },
				Rows: want, Rejects: 1, NoPositions: c.noPositions, Checks: 3,
			})
		})
	}
}

func TestSinkContract(t *testing.T) {
	for _, mode := range []string{"append", "truncate", "upsert", "overwrite"} {
		t.Run(mode, func(t *testing.T) {
			before := []connectortest.Row{{"-100", "before"}}
			h := connectortest.SinkHarness{
				Before: before, Empties: mode == "truncate", Replaces: mode == "overwrite", Hides: mode == "overwrite", Exclusive: true, Checks: 3,
				Refused: func(id string) connectortest.Row { return connectortest.Row{id, "bad"} },
				NewTarget: func(t testing.TB) connectortest.Target {
					f := newFile(t)
					f.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT CHECK (v <> 'bad')); INSERT INTO t VALUES (-100, 'before')")
					return connectortest.Target{
						Open: func() connector.Sink { return f.sink(map[string]any{"mode": mode}, nil) },
						Rows: func() []connectortest.Row {
							return connectortest.ReadAll(t, f.source(SourceOptions{Table: "t", SplitRows: 1 << 40}, connector.SourceEnv{}))
						},
					}
				},
			}
			connectortest.RunSink(t, h)
		})
	}
}
