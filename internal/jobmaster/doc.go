// Package jobmaster decides what happens in a job: which split is handed to
// which slot, when the state is stored, when an attempt is tried again, and
// when and how the job ends. It is a pure state machine: no clock, network,
// goroutine or logger. Events go in through Step, effects come out of it as
// values, in the order in which they are to be carried out; whoever carries
// them out reports back with further events. `leat run` and the cluster wrap
// the same machine.
//
// # Phases
//
//	           ┌──────────── a split that the target does not call done
//	           ▼                                   │
//	Restoring ─► Running ─► Checking ─► Finishing ─► Ended
//	                │           │           │          ▲
//	                └───────────┴─► Stopping ──────────┘
//
//	Restoring  a restored job reads the target's states first (WithPosition)
//	Running    splits are found, stored, registered, handed out
//	Checking   all splits are done: the target's states are read once more
//	Finishing  the final state is stored, then the sink makes the result visible
//	Stopping   a failure or a cancel: running attempts are stopped and awaited
//	Ended      the last state is stored, and End has been given
//
// # Splits
//
//	found ─Stored► stored ─Registered► pending ─Assign► running ─Done► done
//	                                      ▲                │
//	                                      └── back-off ◄───┘ attempt ended, not done
//
// # Invariants
//
//   - A split is handed out only after a stored state holds it and the target
//     knows it (exactness rule 1), and to one slot at a time.
//   - Tokens grow: each attempt has a higher one than all before it.
//   - A lower token's report never changes a split.
//   - Finish is given only when each split is done, the counters balance, and
//     a stored state says so.
//   - End is given only when no attempt runs and each effect that was given has
//     been answered.
//
// # Failures
//
// An attempt or an effect that failed retryably is tried again after a
// back-off, as often in a row as Restart allows; any other failure, and a
// state that cannot be stored, stops the job. Events that answer nothing, come
// twice or name an older attempt change nothing.
package jobmaster
