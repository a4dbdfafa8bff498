package dataset

import "strconv"

// Lineitem is a table of 16 mixed columns, in the shape of TPC-H's lineitem:
// whole numbers, decimals, dates and short texts, about 128 bytes a row. Its
// values are our own, not those of TPC-H's generator.
func Lineitem() Table {
	return Table{
		Name:  "li",
		About: "16 mixed columns: 3 int8, int4, 4 decimal(15,2), 3 date, 5 text",
		Columns: []Column{
			{"orderkey", "int8"},
			{"partkey", "int8"},
			{"suppkey", "int8"},
			{"linenumber", "int4"},
			{"quantity", "decimal(15,2)"},
			{"extendedprice", "decimal(15,2)"},
			{"discount", "decimal(15,2)"},
			{"tax", "decimal(15,2)"},
			{"returnflag", "text"},
			{"linestatus", "text"},
			{"shipdate", "date"},
			{"commitdate", "date"},
			{"receiptdate", "date"},
			{"shipinstruct", "text"},
			{"shipmode", "text"},
			{"comment", "text"},
		},
		seed: 1,
		row:  lineitem,
	}
}

func lineitem(dst []byte, r *random, id int) []byte {
	integer := func(n int) { dst = append(strconv.AppendInt(dst, int64(n), 10), ',') }
	integer(id/4*8 + 1)
	integer(r.between(1, 2_000_000))
	integer(r.between(1, 100_000))
	integer(id%4 + 1)
	quantity := r.between(1, 50)
	dst = append(appendCents(dst, quantity*100), ',')
	dst = append(appendCents(dst, quantity*r.between(90_000, 200_000)), ',')
	dst = append(appendCents(dst, r.between(0, 10)), ',')
	dst = append(appendCents(dst, r.between(0, 8)), ',')
	dst = append(dst, "NAR"[r.below(3)], ',', "OF"[r.below(2)], ',')
	const first = 8035 // 1992-01-01
	shipped := first + r.below(2526)
	dst = append(appendDate(dst, shipped), ',')
	dst = append(appendDate(dst, shipped+r.between(-30, 60)), ',')
	dst = append(appendDate(dst, shipped+r.between(1, 30)), ',')
	dst = append(append(dst, r.pick(instructions())...), ',')
	dst = append(append(dst, r.pick(modes())...), ',')
	return append(r.words(dst, vocabulary(), r.between(5, 32)), '\n')
}
