package connectortest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
)

// Null is the cell of a Row that is NULL.
const Null = "\x00NULL"

// Row is a record: its cells' texts, Null for NULL.
type Row []string

// String shows a row in messages, and is equal only for equal rows.
func (r Row) String() string {
	cells := make([]string, len(r))
	for i, c := range r {
		cells[i] = fmt.Sprintf("%q", c)
		if c == Null {
			cells[i] = "NULL"
		}
	}
	return strings.Join(cells, " ")
}

// RowsOf copies the rows of a batch.
func RowsOf(b *batch.Batch) []Row {
	rows := make([]Row, b.Rows)
	for i := range rows {
		rows[i] = rowOf(b, i)
	}
	return rows
}

func rowOf(b *batch.Batch, i int) Row {
	row := make(Row, len(b.Columns))
	for c := range b.Columns {
		row[c] = Null
		if cell := b.Columns[c].Cell(i); cell != nil {
			row[c] = string(cell)
		}
	}
	return row
}

// sorted returns the rows as texts in an order of their own.
func sorted(rows []Row) []string {
	list := listed(rows)
	slices.Sort(list)
	return list
}

func listed(rows []Row) []string {
	list := make([]string, len(rows))
	for i, r := range rows {
		list[i] = r.String()
	}
	return list
}

// same compares two lists of rows and reports the first differences.
func same(t tb, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	lost, extra := minus(want, got), minus(got, want)
	const most = 5
	t.Errorf("%s: %d rows, want %d; %d are missing %v, %d should not be there %v (a row that is there twice counts)",
		what, len(got), len(want), len(lost), lost[:min(most, len(lost))], len(extra), extra[:min(most, len(extra))])
}

// minus returns what is in a more often than in b.
func minus(a, b []string) []string {
	count := make(map[string]int)
	for _, s := range b {
		count[s]++
	}
	var rest []string
	for _, s := range a {
		if count[s]--; count[s] < 0 {
			rest = append(rest, s)
		}
	}
	return rest
}
