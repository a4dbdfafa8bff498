// Package value is the grammar of cell texts, as package batch defines them:
// for each kind a parser, a formatter of the canonical text, and conversions
// between kinds.
//
// Parsers take more than the canonical text, namely what databases and people
// write and what can mean one thing only; they never guess, round or cut. An
// empty text is no value of any type but Text, Bytes, Bit and Named. They do not
// allocate on success, and their errors are static: ErrSyntax, ErrRange,
// ErrPrecision and ErrLength by errors.Is.
//
// Convert gives the conversion that keeps the value, for a column whose source
// and target types differ; ConvertCast the one that a job asked for by a cast,
// which may round in the ways documented there; Canonical the check of a text
// against a type.
package value
