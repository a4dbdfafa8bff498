// Package suite holds what is measured: each case lets contenders do the same
// copy in turn, over and over, and checks after each run that the target holds
// what it should.
package suite
