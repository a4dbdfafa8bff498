//go:build !leat_failpoints || !linux

package failpoint

// Hook returns what connectors and the engine call at named points: nothing,
// in this build.
func Hook() func(name string) { return func(string) {} }

// Broken reports whether a rule is to be broken: none, in this build.
func Broken(string) bool { return false }
