package value_test

import (
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// A decimal becomes an integer where it is whole; else the record is dirty,
// unless the job asks for a cast.
func ExampleConvert() {
	from, to := batch.Of(batch.Decimal), batch.Of(batch.Int32)
	keep, _ := value.Convert(from, to)
	cast, _ := value.ConvertCast(from, to)
	for _, cell := range []string{"12.00", "12.50"} {
		kept, err := keep(nil, []byte(cell))
		rounded, _ := cast(nil, []byte(cell))
		fmt.Printf("%s: %q, %v; by a cast %s\n", cell, kept, err, rounded)
	}
	_, err := value.Convert(batch.Of(batch.JSON), batch.Of(batch.Date))
	fmt.Println(err)
	// Output:
	// 12.00: "12", <nil>; by a cast 12
	// 12.50: "", has digits after the point, where whole numbers are kept; by a cast 13
	// no conversion from json to date
}

func ExampleCanonical() {
	f, _ := value.Canonical(batch.Type{Kind: batch.Decimal, Precision: 10, Scale: 2})
	for _, text := range []string{"7.1", "1e3", "7.105"} {
		canonical, err := f(nil, []byte(text))
		fmt.Printf("%s: %q, %v\n", text, canonical, err)
	}
	// Output:
	// 7.1: "7.10", <nil>
	// 1e3: "1000.00", <nil>
	// 7.105: "", more digits after the point than the column keeps
}

func ExampleInference() {
	for _, column := range [][]string{{"7.10", "12.00"}, {"38.9", "31.95376472"}, {"00M", "0E0"}} {
		var n value.Inference
		for _, cell := range column {
			n.Add([]byte(cell))
		}
		fmt.Println(column, n.Type())
	}
	// Output:
	// [7.10 12.00] decimal(4,2)
	// [38.9 31.95376472] float64
	// [00M 0E0] text
}
