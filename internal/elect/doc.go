// Package elect runs a program on one machine of many: a failover controller for
// any command. It takes part in an election ([ha.Election], by whatever store), runs
// the command while this process leads, and ends it before anybody else can lead.
//
//	                       unhealthy                       command ended
//	waits ──► competes ──► leads: the command runs ──► the lock is given back ──► exits
//	  ▲          ▲  ▲          │          │                        │
//	  └──────────┼──┼──────────┼──────────┘ stopped, unhealthy     │ Config.Restart
//	             │  └──────────┘ stopped, no renewal in time       │
//	             └─────────────────────────────────────────────────┘
//
// # Processes
//
//	leat elect ──► watcher ──► command ──► its children
//	       orders, deadlines ►
//	       ◄ reports
//
// The watcher is this binary again, in a process group of its own, and the command
// has another. Two pipes connect it with us. It is the one that starts the command,
// adopts whatever the command leaves behind, whatever its group (a subreaper), and
// kills all of it: when the pipe from us closes, when a deadline has come, or when it
// is told to. A renewal of the leadership is one more order, with new deadlines, so
// that a leat elect that is stopped keeps nothing alive.
//
// # Deadlines
//
// With T the session timeout, by CLOCK_BOOTTIME, which counts a suspended machine:
//
//	start of the last renewal that succeeded + 0.6 T    TERM to the group
//	the end of trust - T/40                             KILL to all that is left
//
// Trust ends at that start + T - the store's margin (ZooKeeper T/4, etcd and embedded
// T/10): nobody else leads before. A renewal is a fenced write.
//
// # Who is killed by what
//
//	leat elect is killed     the pipe closes, the watcher kills all
//	leat elect is stopped    the watcher keeps the deadlines
//	the watcher is killed    the kernel kills the command (parent-death signal), and
//	                         leat elect, which inherits them, all others; the
//	                         leadership is given up
//	the watcher is stopped   leat elect kills it at the deadline, with all below it
//	both are killed          the kernel kills the command; its children stay
//
// # The store embedded
//
// Processes of one machine that share a folder take turns: the system's file lock
// says who, and is free as soon as its owner is gone, without a timeout. So the
// watcher has one more, beside it, that it holds until all of the command is dead:
// the next command starts after that.
package elect
