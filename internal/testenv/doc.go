// Package testenv starts what the tests need for real: private PostgreSQL,
// MariaDB and ZooKeeper servers, child processes of the leat binary, and a TCP proxy that
// makes the faults of a network.
//
// Everything lives in one scratch folder per test binary and ends with it:
//
//   - [Main], called from TestMain, ends the shared servers, removes the folder
//     and fails the run when goroutines are left over.
//   - When the test binary is killed instead, the kernel ends its children
//     (their parent-death signal), and a watcher, which waits on a pipe that
//     closes with us, removes the folder once the servers are gone.
//
// A missing server fails the test that asks for it; nothing is skipped. The
// package needs Linux.
package testenv
