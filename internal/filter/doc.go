// Package filter decides which records pass a job's where, for sources that
// have no SQL of their own.
//
// # The language
//
// The syntax is that of github.com/expr-lang/expr; the meaning is SQL's:
//
//	country == "ES" and elevation > 500
//	price * quantity >= 10.50
//	status in ["new", "open"] or status == nil
//	created >= "2024-01-31" and created < "2024-02-01"
//	name startsWith "San " or lower(name) contains "saint"
//	not (code matches "^[0-9]+E[0-9]+$")
//	1 <= rank <= 10
//	(discount ?? 0) < 5
//
// A name is the column of exactly that name, also where functions are named
// so: date(date) calls the function on the column. Columns whose names are not
// plain words, or are words of the language, are col("Weird name"),
// $env["Weird name"] or $env.in.
//
// # NULL
//
// nil is NULL, and logic has three values: a comparison, a computation, a
// search or a function with NULL is NULL; "and", "or" and "not" follow SQL's
// tables; x in [a, b] is true where one is equal, else NULL where x or one of
// the list is NULL. x == nil and x != nil test for NULL, and x ?? y is y where
// x is NULL. A condition (c ? x : y) that is NULL counts as false. A record
// passes when the whole is true.
//
// "and" and "or" go from left to right and stop when the result is known.
//
// # Types
//
//	integers     exact, of any size: no sum or product overflows
//	decimal      exact; literals too: 10.50 is the decimal that it says
//	float        float64; a literal beside a float32 column is rounded to a float32
//	text         compared byte by byte; so are bytes, json, bit and named types
//	bool         a condition by itself; == and !=
//	date, timestamp, instant, time, uuid
//	             compared with a text in quotes, read when the job starts, or with
//	             what date("…"), timestamp("…"), instant("…"), time("…"), uuid("…") give
//
// A date meets a timestamp at its midnight; an instant is only compared with an
// instant, so that its literals name their offset. A whole number and a float
// are compared exactly. A decimal column and a float do not meet unless
// float(…) or decimal(…) says how. x / y is the exact quotient (7 / 2 is 3.5),
// % has the sign of the dividend, and division by zero makes the record dirty.
// NaN equals itself and is larger than all else, as in PostgreSQL. Intervals,
// arrays and times with an offset are tested for nil, or compared as texts by
// string(…).
//
// A column that has no type is text. To compare it with a number is refused
// when the job starts: its type is declared under the source's types, or the
// expression says int(x), decimal(x), float(x).
//
// # Functions
//
//	len lower upper trim                        of a text
//	abs floor ceil round                        of a number
//	bool int decimal float string uuid          conversions; string is the column's text
//	date timestamp instant time
//	col("name")                                 a column
//
// Nothing depends on the clock, the order of records or anything outside the
// record, since a split may be read again after a crash.
//
// # Cells that do not parse
//
// A cell that its column's type cannot read, where the expression needs it, is
// a *CellError: the record is dirty. Cells of columns that the expression does
// not name are never looked at.
//
// # How it works
//
// expr's parser makes the tree; a compiler of our own gives each node a type
// and turns it into a function of a record. expr's own machine is not used: its
// comparisons know no NULL, its numbers are floats and wrapping integers, and
// its values are allocated. Filters keep no state between records, and one may
// be used by several goroutines at once. Where numbers fit 18 digits nothing
// is allocated per record.
package filter
