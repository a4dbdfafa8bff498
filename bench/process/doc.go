// Package process runs programs and measures them: wall time, processor time of
// the programs and of a server's process tree, and peak memory.
//
// What it starts does not outlive us: the kernel ends it when we are killed. It
// needs Linux.
package process
