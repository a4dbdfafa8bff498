// Package jsonl is the connector for files of JSON objects, one a line (also
// called ndjson). Package files does the reading and writing; here are the
// format and the columns.
//
// # Reading
//
// The columns are the keys of all objects, in the order of their first
// appearance, for which all files are read once before the records are; or
// those that the option columns names. A key that an object lacks is NULL, and
// so is null. Cells are the values' texts: of a number its very digits, of a
// string what it says, of an object or array its JSON as it stands. Where the
// column is JSON - declared, the target's, or because its values are nested or
// of several kinds - each cell is the value's JSON, a string with its quotes.
//
// A line that is no JSON object, has a key twice, holds half of a surrogate
// pair or is nested deeper than 512 levels is dirty. Empty lines are passed over.
//
// # Writing
//
// One object a record, all columns in order, NULL as null. Numbers keep their
// digits; see encoder.go for each type. JSON is embedded as it stands, without
// line ends. What could not be told from something else is dirty: JSON's null
// from NULL, an array of several dimensions of JSON from arrays in it.
package jsonl
