package filter_test

import (
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/filter"
)

func Example() {
	schema := &batch.Schema{Fields: []batch.Field{
		{Name: "name", Type: batch.Of(batch.Text)},
		{Name: "price", Type: batch.Type{Kind: batch.Decimal, Precision: 10, Scale: 2}},
		{Name: "sold", Type: batch.Of(batch.Date)},
	}}
	f, err := filter.Compile(`price >= 10.50 and (sold == nil or sold > "2024-01-31")`, schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := &batch.Batch{}
	b.Reset(schema)
	for _, record := range [][]string{{"lamp", "10.50", ""}, {"chair", "99.00", "2024-01-31"}, {"table", "250.00", "2024-02-01"}} {
		for _, text := range record {
			if text == "" {
				b.AppendNull()
			} else {
				b.Append([]byte(text))
			}
		}
	}
	b.Seal()
	for i := range b.Rows {
		pass, err := f.Match(b, i)
		fmt.Printf("%s %v %v\n", b.Columns[0].Cell(i), pass, err)
	}
	// Output:
	// lamp true <nil>
	// chair false <nil>
	// table true <nil>
}

func ExampleCompile_refused() {
	schema := &batch.Schema{Fields: []batch.Field{{Name: "price", Type: batch.Of(batch.Untyped)}}}
	_, err := filter.Compile("price > 10", schema)
	fmt.Println(err)
	_, err = filter.Compile("prize == '10'", schema)
	fmt.Println(err)
	// Output:
	// column "price" (a text, for its type is not declared) and a number cannot be brought together: declare its type under the source's types (types: {price: int64}), or write decimal(price) (1:7)
	//  | price > 10
	//  | ......^
	// unknown column "prize": did you mean "price"? (1:1)
	//  | prize == '10'
	//  | ^
}
