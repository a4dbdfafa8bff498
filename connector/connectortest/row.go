package connectortest

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

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
	texts := make([]string, len(b.Columns)) // one where columns share their data
	for c := range b.Columns {
		if data := b.Columns[c].Data; c > 0 && len(data) == len(b.Columns[c-1].Data) && unsafe.SliceData(data) == unsafe.SliceData(b.Columns[c-1].Data) {
			texts[c] = texts[c-1]
		} else {
			texts[c] = string(data)
		}
	}
	rows, cells := make([]Row, b.Rows), make([]string, b.Rows*len(b.Columns))
	for i := range rows {
		row := cells[i*len(texts):][:len(texts):len(texts)]
		for c := range b.Columns {
			column := &b.Columns[c]
			row[c] = Null
			if s := column.Spans[column.First+i*column.Stride]; s.Len >= 0 {
				row[c] = texts[c][s.Off:][:s.Len]
			}
		}
		rows[i] = row
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

// sorted returns the rows in an order of their own.
func sorted(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int { return slices.Compare(a, b) })
	return rows
}

// same compares two lists of rows and reports the first differences.
func same(t tb, what string, got, want []Row) {
	t.Helper()
	if slices.EqualFunc(got, want, slices.Equal[Row]) {
		return
	}
	lost, extra := minus(want, got), minus(got, want)
	const most = 5
	t.Errorf("%s: %d rows, want %d; %d are missing %v, %d should not be there %v (a row that is there twice counts)",
		what, len(got), len(want), len(lost), lost[:min(most, len(lost))], len(extra), extra[:min(most, len(extra))])
}

// minus returns the texts of what is in a more often than in b.
func minus(a, b []Row) []string {
	count := make(map[string]int)
	for _, r := range b {
		count[r.String()]++
	}
	var rest []string
	for _, r := range a {
		s := r.String()
		if count[s]--; count[s] < 0 {
			rest = append(rest, s)
		}
	}
	return rest
}
