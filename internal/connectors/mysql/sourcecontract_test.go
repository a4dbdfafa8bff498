package mysql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
)

func TestSourceContract(t *testing.T) {
	const n = 10_000
	rows := make([]connectortest.Row, n)
	for i := range rows {
		rows[i] = connectortest.Row{fmt.Sprint(i + 1), fmt.Sprintf("value %d %s", i+1, strings.Repeat("x", 60))}
		if (i+1)%7 == 0 {
			rows[i][1] = connectortest.Null
		}
	}
	const fill = "; INSERT INTO t SELECT seq, IF(seq % 7 > 0, concat('value ', seq, ' ', repeat('x', 60)), NULL) FROM seq_1_to_10000; ANALYZE TABLE t"
	for name, c := range map[string]struct {
		setup       string
		options     map[string]any
		noPositions bool
	}{
		"key":         {"CREATE TABLE t (id int PRIMARY KEY, v text)", map[string]any{"split_rows": 3000}, false},
		"estimated":   {"CREATE TABLE t (id int PRIMARY KEY, v text)", map[string]any{"split_size": "400KiB"}, false},
		"secondary":   {"CREATE TABLE t (id int NOT NULL, v text, UNIQUE (id)) ENGINE MyISAM", map[string]any{"split_rows": 3000}, false},
		"no key":      {"CREATE TABLE t (id int, v text)", nil, true},
		"query":       {"CREATE TABLE t (id int, v text)", map[string]any{"query": "SELECT * FROM t", "key": "id", "split_rows": 4000}, true},
		"plain query": {"CREATE TABLE t (id int, v text)", map[string]any{"query": "SELECT * FROM t ORDER BY id"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSourceRig(t, c.setup+fill)
			connectortest.RunSource(t, connectortest.SourceHarness{
				New: func(t testing.TB) connector.Source {
					return must(newSource(r.options(c.options), connector.SourceEnv{}))(t)
				},
				Rows: rows, NoPositions: c.noPositions, Checks: 5,
			})
		})
	}
}
