// Package failpoint ends or stops the process at named points, so that tests
// can crash it at the moments that matter: before and after a COMMIT, a
// rename, a stored state. Only a build for Linux with the tag leat_failpoints
// has it; any other has none, whatever the environment says.
//
// The environment's LEAT_FAILPOINT names the point, how many times to pass it
// first, and what to do: before-commit:2:kill ends the process with SIGKILL
// the third time it comes by; stop in place of kill stops it with SIGSTOP.
//
// LEAT_BREAK names rules of exactness, with commas between, that are then not
// kept: the tests of a rule are shown to fail without it.
package failpoint
