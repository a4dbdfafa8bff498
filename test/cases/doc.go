// Package cases runs whole jobs on what users of such tools have stumbled over,
// and holds each to the right result, most of them against a real PostgreSQL.
// README.md lists every case with the test that shows it, wherever that test
// is; what waits for a connector is in docs/limits.md. It has tests only.
package cases
