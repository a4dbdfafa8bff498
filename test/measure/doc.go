// Package measure holds the bounds that every run has to keep: memory that
// does not grow with the table, hardly an allocation per record, a quick
// start. It has tests only, and they run without the race detector, which
// would change what they measure; test/house knows them by their names.
package measure
