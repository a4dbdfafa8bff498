// Package connectortest is the contract that every Source and Sink keeps, as
// tests: a connector's own tests call RunSource and RunSink with a harness
// that makes real ones.
//
// The suites drive a connector as the engine does, and as crashes do: claims
// with old and new tokens, writers that are abandoned with rows in them, new
// Sink values over the same target, readers that are closed and opened again
// at a position. Beside fixed scenarios a random schedule of such steps is
// checked against a model; it prints what it needs to be run again.
package connectortest
