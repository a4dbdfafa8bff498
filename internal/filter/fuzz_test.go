package filter

import (
	"errors"
	"slices"
	"testing"
)

// FuzzCompile compiles any text, and evaluates what compiles: nothing panics,
// errors are about cells, and the answer is the same each time.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`qty == 5 and price > 10.5 or not (flag ?? false)`,
		`name in ["a", 'b', nil] and small in [0.1] and qty in 1..10`,
		`day < "2024-01-31" and at >= day and moment == "2024-01-31 10:00Z"`,
		`col("Weird name") matches "^x" ? 1 : 2`,
		`$env["in"] == 1 and big == 18446744073709551615`,
		`if flag { qty / 3 == none } else { name | lower() == "x" }`,
		`any(qty, # > 1) or {"a": [1, 2][0]}?.a::b`,
		`1e308 * ratio % 0 == -.5 and b"\xff" == blob`,
		`let x = 5; x; y`, `((((`, `0x1F_F < 1..2`, "qty /* */ == // \n 5", `"\u00`, `a ?? b ?? c`, "`", `1e000000`, `99999999999999999999e1`,
	} {
		f.Add(s)
	}
	s, b := record(f, people())
	f.Fuzz(func(t *testing.T, expression string) {
		filter, err := Compile(expression, s)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		first, err := filter.Match(b, 0)
		if err != nil {
			if _, ok := errors.AsType[*CellError](err); !ok || first {
				t.Fatalf("%v, %v", first, err)
			}
		}
		again, err2 := filter.Match(b, 0)
		if again != first || (err == nil) != (err2 == nil) {
			t.Fatalf("%v, %v, then %v, %v", first, err, again, err2)
		}
		for _, name := range filter.Columns() {
			if !slices.Contains(s.Names(), name) {
				t.Fatalf("column %q is not there", name)
			}
		}
	})
}
