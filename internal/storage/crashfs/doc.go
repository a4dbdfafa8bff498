// Package crashfs is a file system in memory for tests: it knows what has
// been made durable, can be cloned as a crash would leave it, and can be made
// to fail at any operation.
//
// # What is durable
//
// A file's data: what was there at its last Sync. A folder's names: those at
// its last SyncDir. CrashClone keeps all of that, and of the rest what its
// random generator chooses, as real file systems do:
//
//   - each write and truncation since the last Sync is applied whole, in part
//     (torn at some byte, or its length grown but its data zeros), or not at all;
//   - each creation, renaming and removal since the last SyncDir has happened
//     or not, one without the other, in their order. A renaming is whole: it
//     is never seen half done, also between two folders.
//
// # Failures
//
// Inject has a function see each operation before it happens; the error it
// returns is the operation's, and a failed Write has written half of its
// data; a Sync fails once one of the same open file has. FailAt and CrashAt
// count the operations that change something, from 1. After CrashAt all fail,
// as those of a process that is no more.
//
// Nothing here is for use outside tests.
package crashfs
