// Package heartbeat tells who is alive, for any system of masters and workers: a
// service apart from what its heartbeats mean, and from how they travel. The model
// is Flink's HeartbeatServices, and the counter in the coordination store that
// masters on ZooKeeper keep.
//
//	services, err := heartbeat.New(heartbeat.Config{})        // once per process
//	err = services.Start(ctx)
//	sender, err := heartbeat.NewSender(services, "master", listener, loop) // the active side
//	monitor, err := sender.Monitor("worker-1", target)        // when it has registered
//
// A [Sender] sends each of its targets a request per interval, a [Manager] on the
// other side answers: the request proves to its receiver that the sender lives, the
// answer the opposite. Both watch: who is silent for the timeout, or whose address
// refuses connections, is reported to the [Listener], and what follows is the
// owner's to do. Everything that the owner is told or asked happens on its own
// message loop, an [Executor].
//
// # States
//
// A [Monitor], decided once by compare-and-swap:
//
//	Monitor(id) ──► RUNNING ──silence, refusals──► TIMEOUT    Listener.Timeout, once
//	                   └──Unmonitor, Cancel, Stop──► CANCELED  nothing is reported
//
// An id that is put under monitoring again has a new monitor, of a higher
// generation; what still holds the old one changes nothing.
//
// A worker, as a master sees it by both kinds of heartbeat ([Witnesses]):
//
//	           Registered             rpc lost                   rpc lost for the limit
//	unknown ──────────────► alive ──────────────► suspect ─────────────────────────┐
//	                        │  ▲ ◄──rpc is back──────┘ └──counter stands──┐         │
//	                        │  └──Registered── dead ◄─────────────────────┴─────────┘
//	                        └──rpc lost, counter stands──► dead
//
// and as it sees itself ([Fence]): working ──► fenced ──Registered──► working.
//
// # How it is done
//
//   - Services have one goroutine and one timer. A hundred times per interval it
//     lets those requests be sent that are due, which are spread evenly, and looks
//     whether the first of all deadlines is over.
//   - A heartbeat that is received is one atomic store ([Monitor.Heard]): no timer
//     is stopped or set.
//   - The sweeper only suspects. Who is lost is decided on the owner's loop, behind
//     the messages that were queued by then.
//   - Only a monotonic clock is read, or the one that [Config] has; no clock of one
//     process is ever compared with another's.
//
// # What the monitor doubts first is itself
//
//   - A process that was stopped or starved wakes late, and moves all deadlines by
//     as long as it was stalled after each target's last heartbeat, at the least so
//     far that what has queued up can be handled.
//   - When more than a fifth of a manager's targets, and at least five, are late at
//     once, they get one timeout more, once. Those count as being late at once whose
//     deadlines are within the same interval.
//   - Reads of the counters that fail count for nobody, and neither does a pause of
//     the master's: misses are counted in its own reads.
//
// # What is not promised
//
//   - That who is reported lost does nothing any more. A worker stops by itself in
//     time ([Fence]) unless its clock or its process stands still; what keeps it
//     from doing harm then is an epoch or a token in whatever it writes.
//   - That a worker that hears requests is heard: its answers may be lost. It is
//     told when it is given up, by getting no more requests.
//
// docs/heartbeat.md is the way in, with when which side finds a loss, and what everything
// costs; the example OverRPC is a whole program over package rpc. Why it is so stands in
// docs/adr/0007-heartbeats-are-stamps.md.
package heartbeat
