package filter

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the database that answers for SQL
	"pgregory.net/rapid"
)

// drawn is an expression in the filter's language and in SQL.
type drawn struct{ ours, sql string }

func both(format string, parts ...drawn) drawn {
	ours, theirs := make([]any, len(parts)), make([]any, len(parts))
	for i, p := range parts {
		ours[i], theirs[i] = p.ours, p.sql
	}
	return drawn{fmt.Sprintf(format, ours...), fmt.Sprintf(format, theirs...)}
}

// drawNumber draws a whole number: columns a, b, c (any may be NULL), literals,
// arithmetic without division, which SQLite rounds.
func drawNumber(t *rapid.T, depth int) drawn {
	kinds := 5
	if depth <= 0 {
		kinds = 3
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "number") {
	case 0:
		return both(fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "literal")))
	case 1, 2:
		return both(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "column"))
	case 3:
		op := rapid.SampledFrom([]string{"+", "-", "*"}).Draw(t, "operator")
		return both("(%s "+op+" %s)", drawNumber(t, depth-1), drawNumber(t, depth-1))
	}
	l, r := drawNumber(t, depth-1), drawNumber(t, depth-1)
	return drawn{fmt.Sprintf("(%s ?? %s)", l.ours, r.ours), fmt.Sprintf("coalesce(%s, %s)", l.sql, r.sql)}
}

// drawText draws a text: columns s, u (any may be NULL), literals, joined texts.
func drawText(t *rapid.T, depth int) drawn {
	switch n := rapid.IntRange(0, 3).Draw(t, "text"); {
	case n == 3 && depth > 0:
		l, r := drawText(t, depth-1), drawText(t, depth-1)
		return drawn{fmt.Sprintf("(%s + %s)", l.ours, r.ours), fmt.Sprintf("(%s || %s)", l.sql, r.sql)}
	case n == 0:
		return both("'" + rapid.StringMatching("[ab]{0,2}").Draw(t, "literal") + "'")
	}
	return both(rapid.SampledFrom([]string{"s", "u"}).Draw(t, "column"))
}

func drawCondition(t *rapid.T, depth int) drawn {
	if depth <= 0 {
		return drawComparison(t)
	}
	switch rapid.IntRange(0, 6).Draw(t, "condition") {
	case 0, 1:
		return both("(%s and %s)", drawCondition(t, depth-1), drawCondition(t, depth-1))
	case 2, 3:
		return both("(%s or %s)", drawCondition(t, depth-1), drawCondition(t, depth-1))
	case 4:
		return both("(not %s)", drawCondition(t, depth-1))
	case 5:
		c, l, r := drawCondition(t, depth-1), drawCondition(t, depth-1), drawCondition(t, depth-1)
		return drawn{
			fmt.Sprintf("(%s ? %s : %s)", c.ours, l.ours, r.ours),
			fmt.Sprintf("(case when %s then %s else %s end)", c.sql, l.sql, r.sql),
		}
	}
	return drawComparison(t)
}

func drawComparison(t *rapid.T) drawn {
	op := rapid.SampledFrom([]string{"==", "!=", "<", "<=", ">", ">="}).Draw(t, "operator")
	switch rapid.IntRange(0, 5).Draw(t, "comparison") {
	case 0:
		return both("(%s "+op+" %s)", drawText(t, 1), drawText(t, 1))
	case 1:
		x := drawNumber(t, 1)
		return drawn{fmt.Sprintf("(%s == nil)", x.ours), fmt.Sprintf("(%s is null)", x.sql)}
	case 2:
		x, l, r := drawNumber(t, 1), drawNumber(t, 0), drawNumber(t, 0)
		return drawn{fmt.Sprintf("(%s in [%s, %s, nil])", x.ours, l.ours, r.ours), fmt.Sprintf("(%s in (%s, %s, null))", x.sql, l.sql, r.sql)}
	case 3:
		x, l, r := drawNumber(t, 1), drawNumber(t, 0), drawNumber(t, 0)
		return drawn{fmt.Sprintf("(%s not in [%s, %s])", x.ours, l.ours, r.ours), fmt.Sprintf("(%s not in (%s, %s))", x.sql, l.sql, r.sql)}
	case 4:
		x, l, r := drawNumber(t, 1), drawNumber(t, 0), drawNumber(t, 0)
		return drawn{fmt.Sprintf("(%s in %s..%s)", x.ours, l.ours, r.ours), fmt.Sprintf("(%s between %s and %s)", x.sql, l.sql, r.sql)}
	}
	return both("(%s "+op+" %s)", drawNumber(t, 2), drawNumber(t, 2))
}

// The same expression over the same record gives what SQL gives: true, false or NULL.
func TestFilterAgreesWithSQLite(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "oracle.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	rapid.Check(t, func(t *rapid.T) {
		cells := []cell{{"a", "int64", nil}, {"b", "int64", nil}, {"c", "int8", nil}, {"s", "text", nil}, {"u", "text", nil}}
		var columns []string
		for i := range cells {
			literal := "null"
			if rapid.IntRange(0, 2).Draw(t, "is null") > 0 {
				if cells[i].typ == "text" {
					cells[i].text = rapid.StringMatching("[ab]{0,2}").Draw(t, "cell")
					literal = "'" + cells[i].text.(string) + "'"
				} else {
					literal = fmt.Sprint(rapid.IntRange(-3, 3).Draw(t, "cell"))
					cells[i].text = literal
				}
			}
			columns = append(columns, literal+" as "+cells[i].name)
		}
		e := drawCondition(t, 3)
		var answer sql.NullBool
		query := "select " + e.sql + " from (select " + strings.Join(columns, ", ") + ")"
		if err := db.QueryRow(query).Scan(&answer); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		want := "NULL"
		if answer.Valid {
			want = fmt.Sprint(answer.Bool)
		}
		s, b := recordOf(t, cells)
		f, err := Compile(e.ours, s)
		if err != nil {
			t.Fatalf("%s: %v", e.ours, err)
		}
		v, err := f.pass(row{b: b})
		got := "NULL"
		if !v.null {
			got = fmt.Sprint(v.v)
		}
		if err != nil || got != want {
			t.Fatalf("%s is %s, %v; SQL: %s is %s", e.ours, got, err, query, want)
		}
	})
}
