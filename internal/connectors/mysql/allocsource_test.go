package mysql

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// lineitem is a table of 16 mixed columns, as orders have them; linesOf fills it.
const lineitem = `CREATE TABLE li (l_orderkey bigint NOT NULL, l_partkey bigint, l_suppkey bigint, l_linenumber int NOT NULL,
 l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag char(1), l_linestatus char(1),
 l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(44), PRIMARY KEY (l_orderkey, l_linenumber))`

func linesOf(n int) string {
	return fmt.Sprintf(`INSERT INTO li SELECT seq, 100000 + seq, 1000 + seq %% 997, seq %% 7, 1 + seq %% 50, seq * 1.17, 0.05, 0.08, 'N', 'O',
 '2024-01-01' + INTERVAL seq %% 365 DAY, '2024-02-01', '2024-03-01', 'DELIVER IN PERSON', 'TRUCK', concat('carefully final ', seq) FROM seq_1_to_%d`, n)
}

// drain reads a whole source through one batch and returns its rows.
func drain(t testing.TB, s *Source) (rows int) {
	t.Helper()
	schema := must(s.Schema(t.Context()))(t)
	e := must(s.Enumerate(t.Context(), "", 0, connector.Want{Ordered: true}))(t)
	rd := must(s.Open(t.Context(), e.Splits[0], ""))(t)
	defer func() { check(t, rd.Close()) }()
	b := new(batch.Batch)
	for {
		b.Reset(schema)
		if err := rd.Next(t.Context(), b); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows += b.Rows
	}
}

// Reading makes fewer than 0.1 allocations per row, and through the driver, of an
// encrypted connection, fewer than 16 with 16 columns: it makes one for each value.
func TestAllocReading(t *testing.T) {
	const n = 30000
	r := newSourceRig(t, lineitem+"; "+linesOf(n))
	for bound, through := range map[float64]string{0.1: "the connection", 16: "the driver"} {
		s := r.source(map[string]any{"table": "li"}, connector.SourceEnv{})
		if through == "the driver" {
			s.sessions.below = &connections{}
		}
		must(s.Schema(t.Context()))(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows := drain(t, s)
		runtime.ReadMemStats(&after)
		if per := float64(after.Mallocs-before.Mallocs) / n; rows != n || per >= bound {
			t.Errorf("through %s: %d rows, with %.2f allocations each", through, rows, per)
		} else {
			t.Logf("through %s: %.2f allocations per row", through, per)
		}
	}
}
