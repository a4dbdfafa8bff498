package filter

import (
	"errors"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// Every refusal names the place and says what to do.
func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ expression, place, says string }{
		{`qyt == 5`, "1:1", `unknown column "qyt": did you mean "qty"?`},
		{`qty == 5 and QTY == 6`, "1:14", `did you mean "qty"`},
		{`col("nme") == "x"`, "1:1", `did you mean "name"`},
		{`$env["weird name"] == "x"`, "1:5", `did you mean "Weird name"`},
		{`zzzzzz == 1`, "1:1", `known are qty, price`},
		{`a.b == 9`, "1:3", `col("a.b")`},
		{`raw > 5`, "1:5", `types: {raw: int64}`},
		{`raw > 5`, "1:5", `decimal(raw)`},
		{`5 == raw`, "1:3", `declare its type under the source's types`},
		{`raw in [1, 2]`, "1:9", `types: {raw: int64}`},
		{`raw + 1 == 2`, "1:1", `types: {raw: int64}`},
		{`-raw == 2`, "1:2", `types: {raw: int64}`},
		{`raw and flag`, "1:1", `types: {raw: bool}`},
		{`raw < day`, "1:5", `types: {raw: date}`},
		{`raw == ratio`, "1:5", `types: {raw: float64}`},
		{`abs(raw) == 1`, "1:1", `types: {raw: int64}`},
		{`raw in 1..2`, "1:1", `types: {raw: int64}`},
		{`name == 5`, "1:6", `decimal(name)`},
		{`col("Weird name") == 5`, "1:19", `decimal(col("Weird name"))`},
		{`qty == "5"`, "1:5", "without quotes"},
		{`flag == "true"`, "1:6", "without quotes"},
		{`flag == 1`, "1:6", "cannot be brought together"},
		{`flag < true`, "1:6", "neither is larger"},
		{`mood < "x"`, "1:6", "neither is larger"},
		{`doc > "x"`, "1:5", "neither is larger"},
		{`wait > "P1D"`, "1:1", "string(wait)"},
		{`wait == wait`, "1:1", "only be tested for nil"},
		{`price > ratio`, "1:1", "float(…)"},
		{`ratio + price > 1`, "1:9", "decimal(…)"},
		{`moment == "2024-01-31 10:00:00"`, "1:11", "offset"},
		{`moment == "2024-01-31"`, "1:11", "offset"},
		{`at == "2024-01-31 10:00:00Z"`, "1:7", "offset"},
		{`at == moment`, "1:4", "cannot be brought together"},
		{`day == "2024-02-30"`, "1:8", "no such day"},
		{`day == "soon"`, "1:8", "not a date"},
		{`id == "f47ac"`, "1:7", "not a UUID"},
		{`int("x") == 1`, "1:5", "not a number"},
		{`int("1.5") == 1`, "1:5", "fraction"},
		{`date("x") == day`, "1:6", "not a date"},
		{`day + 1 == "2024-02-01"`, "1:1", "needs numbers"},
		{`name matches "("`, "1:14", "missing closing )"},
		{`name matches name`, "1:14", "in quotes"},
		{`qty contains "5"`, "1:1", "string(qty)"},
		{`qty in 1.5..2`, "1:8", "whole numbers"},
		{`price in 1..2`, "1:1", "whole numbers"},
		{`qty in qty`, "1:8", "list"},
		{`qty in 5 + 5`, "1:10", "list"},
		{`qty == [5]`, "1:8", "right of in"},
		{`1 / 0 == 1`, "1:3", "division by zero"},
		{`not qty == 5`, "1:5", "binds tighter"},
		{`qty`, "1:1", "true or false is needed"},
		{`"true"`, "1:1", "true or false is needed"},
		{`nil`, "1:1", "true or false is needed"},
		{`now() > at`, "1:1", "now is left out"},
		{`any(qty, true)`, "1:1", `unknown function "any"`},
		{`lenght(name) == 1`, "1:1", "unknown function"},
		{`lwer(name) == "x"`, "1:1", `did you mean "lower"`},
		{`len(name, name) == 1`, "1:1", "one argument"},
		{`col(name) == 1`, "1:1", "in quotes"},
		{`name.lower() == "x"`, "1:6", "no methods"},
		{`name[0:1] == "A"`, "1:5", "cut out"},
		{`let x = qty; x == 5`, "1:5", "one expression"},
		{`qty == 5; qty == 6`, "1:5", "one expression"},
		{`{"a": 1}`, "1:1", "not part of a filter's language"},
		{`qty ** 2 == 25`, "1:5", "** is not part"},
		{`qty ==`, "1:6", "unexpected token EOF"},
		{"qty == 5 and\n  nmae == 1", "2:3", `did you mean "name"`},
		{`upper(blob) == "X"`, "1:1", "upper and lower"},
		{`bool(qty)`, "1:1", "no way"},
		{`(flag ? 1 : "a") == 1`, "1:13", "cannot be brought together"},
		{`(if flag { 1 } else { name }) == 1`, "1:23", "cannot be brought together"},
		{`(qty ?? "a") == 1`, "1:6", "cannot be brought together"},
		{`qty ? true : false`, "1:1", "a condition needs true or false"},
		{`1e-401 < price`, "1:1", "exponent"},
	} {
		s, _ := record(t, people())
		_, err := Compile(c.expression, s)
		if err == nil {
			t.Errorf("%s: compiled", c.expression)
			continue
		}
		if !strings.Contains(err.Error(), "("+c.place+")") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s\n got %v\nwant (%s) and %s", c.expression, err, c.place, c.says)
		}
	}
}

func TestCompileRefusesNothingAndTooMuch(t *testing.T) {
	s, _ := record(t, people())
	for _, expression := range []string{"", " ", strings.Repeat("(", maxExpression+1), strings.Repeat("(", maxExpression)} {
		if _, err := Compile(expression, s); err == nil {
			t.Errorf("%.20q compiled", expression)
		}
	}
}

// A cell that its type cannot read makes the record dirty, and only where the
// expression needs it.
func TestCellsThatDoNotParse(t *testing.T) {
	cells := []cell{
		{"i", "int8", "300"},
		{"u", "uint16", "-1"},
		{"d", "decimal", "1,5"},
		{"f", "float64", "x"},
		{"b", "bool", "maybe"},
		{"day", "date", "2023-02-30"},
		{"at", "timestamp", ""},
		{"id", "uuid", "1"},
		{"raw", "untyped", "abc"},
		{"ok", "int8", "1"},
	}
	for expression, column := range map[string]string{
		"i == 1": "i", "u == 1": "u", "d == 1": "d", "f == 1": "f", "b": "b", "day == '2024-01-31'": "day",
		"at > '2024-01-31'": "at", "id == id": "id", "int(raw) == 1": "raw", "ok == 1 and i == 1": "i", "date(raw) == day": "raw",
	} {
		s, b := record(t, cells)
		f, err := Compile(expression, s)
		if err != nil {
			t.Fatal(err)
		}
		pass, err := f.Match(b, 0)
		bad, ok := errors.AsType[*CellError](err)
		if pass || !ok || bad.Column != column {
			t.Errorf("%s: got %v, %v; want a dirty %s", expression, pass, err, column)
		}
		if !errors.Is(err, value.ErrSyntax) && !errors.Is(err, value.ErrRange) {
			t.Errorf("%s: %v is not an error of batch/value", expression, err)
		}
	}
	for expression, want := range map[string]string{
		"ok == 1": "true", "ok == 2 and i == 1": "false", "ok == 1 or i == 1": "true", "i != nil": "true", "day == nil": "false",
	} {
		if got := outcome(t, expression, cells); got != want {
			t.Errorf("%s: got %s, want %s", expression, got, want)
		}
	}
}

func TestColumnsAreThoseReferredTo(t *testing.T) {
	s, _ := record(t, people())
	f, err := Compile(`raw == "x" and (qty in [count, 2] or col("Weird name") == nil) and qty > 1`, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Columns(), ","); got != "qty,raw,count,Weird name" {
		t.Errorf("got %s", got)
	}
	if f, err = Compile("true", s); err != nil || len(f.Columns()) != 0 {
		t.Errorf("got %v, %v", f, err)
	}
}

func TestEveryKindCanBeTestedForNil(t *testing.T) {
	for _, k := range batch.Kinds() {
		s := &batch.Schema{Fields: []batch.Field{{Name: "x", Type: batch.Of(k)}}}
		f, err := Compile("x == nil", s)
		if err != nil {
			t.Errorf("%s: %v", k, err)
			continue
		}
		b := &batch.Batch{}
		b.Reset(s)
		b.AppendNull()
		b.Append([]byte("?"))
		b.Seal()
		for i, want := range []bool{true, false} {
			if got, err := f.Match(b, i); got != want || err != nil {
				t.Errorf("%s, row %d: got %v, %v", k, i, got, err)
			}
		}
	}
}
