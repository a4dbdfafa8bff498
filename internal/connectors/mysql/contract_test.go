package mysql

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
	server := testenv.MariaDB(t)
	url := server.Database(t)
	tables := 0
	return connectortest.SinkHarness{
		NewTarget: func(t testing.TB) connectortest.Target {
			tables++
			table := fmt.Sprintf("t%d", tables)
			if setup != "" {
				server.Exec(t, url, strings.ReplaceAll(setup, "@", table))
			}
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
					if len(server.Rows(t, url, "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '"+table+"'")) == 0 {
						return nil
					}
					var rows []connectortest.Row
					for _, row := range server.Rows(t, url, "SELECT id, COALESCE(CONCAT('=', v), '') FROM "+table) {
						v, ok := strings.CutPrefix(row[1], "=")
						if !ok {
							v = connectortest.Null
						}
						rows = append(rows, connectortest.Row{row[0], v})
					}
					return rows
				},
			}
		},
		Checks: 6,
	}
}

func TestSinkContract(t *testing.T) {
	const filled = "CREATE TABLE @ (id BIGINT PRIMARY KEY, v LONGTEXT CHECK (v <> 'bad')); INSERT INTO @ VALUES (-100, 'old')"
	old := []connectortest.Row{{"-100", "old"}}
	bad := func(id string) connectortest.Row { return connectortest.Row{id, "bad"} }
	notText := func(id string) connectortest.Row { return connectortest.Row{id, "a\xffb"} }
	for name, c := range map[string]struct {
		setup   string
		options map[string]any
		refused func(string) connectortest.Row
		set     func(*connectortest.SinkHarness)
	}{
		"append":            {filled, nil, bad, nil},
		"append by INSERT":  {filled, map[string]any{"load": "insert"}, bad, nil},
		"create":            {"", nil, notText, nil},
		"overwrite":         {filled, map[string]any{"mode": "overwrite"}, bad, func(h *connectortest.SinkHarness) { h.Hides, h.Replaces = true, true }},
		"overwrite creates": {"", map[string]any{"mode": "overwrite"}, notText, func(h *connectortest.SinkHarness) { h.Hides, h.Replaces = true, true }},
		"truncate":          {filled, map[string]any{"mode": "truncate"}, bad, func(h *connectortest.SinkHarness) { h.Empties = true }},
		"upsert":            {filled, map[string]any{"mode": "upsert"}, bad, nil},
		"upsert by INSERT":  {filled, map[string]any{"mode": "upsert", "load": "insert"}, bad, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := sinkHarness(t, c.setup, c.options)
			h.Refused = c.refused
			if c.setup != "" {
				h.Before = old
			}
			if c.set != nil {
				c.set(&h)
			}
			connectortest.RunSink(t, h)
		})
	}
}
