//go:build !unix

package memstore

// lockFile does nothing where the system has no such locks: one process only.
func lockFile(string) (func(), error) { return func() {}, nil }
