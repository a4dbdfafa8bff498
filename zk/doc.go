// Package zk keeps sessions with a ZooKeeper ensemble, over
// github.com/go-zookeeper/zk, and says what may be relied on when connections,
// servers and the client itself fail: leases by an own clock, contexts, three
// outcomes, watches that lose nothing, and recipes on top.
//
//	client, err := zk.New(zk.Config{Servers: []string{"zk1:2181", "zk2:2181", "zk3:2181"}, Chroot: "/app"})
//	err = client.Start(ctx)
//	defer client.Stop()
//
//	session, err := client.Session(ctx) // waits for one
//	path, err := session.CreateProtected(ctx, "/workers/w-", data, zk.EphemeralSequential)
//	<-session.Done()                    // the node is gone, or may be: begin anew
//
// A [Client] makes one [Session] after the other. A Session is one session of the
// store: it outlives connections and never itself. Whoever holds one knows what
// its ephemeral nodes mean, since an expired session is never replaced under its
// owner.
//
// # States
//
// A client, as OnState is told:
//
//	          session given               connection lost
//	connecting ──────────► connected ◄───────────────────► suspended
//	   ▲                       │        connection anew        │
//	   └─────── ended ─────────┴───────────────────────────────┘
//	any ── Stop, credentials refused ──► stopped
//
// A session ends, for good, when
//
//   - the store says so ([ErrExpired]): on a new connection, or to any request;
//   - its trust has ended ([ErrTrustEnded]): no renewal was answered in time;
//   - it, or its client, was stopped ([ErrStopped]).
//
// Done is closed then, its Context ends, and everything on it fails with
// [ErrSessionEnded]. If the store did not end it, it is told goodbye in the
// background, so that the nodes go at once where it can be reached.
//
// # Trust
//
// A client that is cut off is told nothing. So each session has a lease by its own
// clock, CLOCK_BOOTTIME: it may be trusted until the start of the last renewal that
// was answered, plus the session timeout T, less T/4. A renewal is a sync, every
// T/6, which the store's leader has to answer: a follower that has lost its leader
// goes on answering pings for syncLimit × tickTime, far longer than the leader keeps
// the session. The margin is for followers, which pass sessions on only every half
// tick (T is at least two). While trust lasts, the store has not expired the session,
// and no ephemeral node of it is gone.
//
// Timers do not run while the machine is suspended, so that Done and the contexts that
// end with it may come up to T/6 after it wakes. [Session.Trusted] asks the clock, and
// is right at once; so does every operation, before it is sent. Trust that has run out
// does not come back, though the store may have kept the session.
//
// A renewal that is not answered within T/4 costs its connection, and the next is
// sought at once: attempts start every T/24 at most, to another server each, without
// waiting for those under way. So a loss shorter than T/2 changes nothing.
//
// One bound is the store's: its leader, having lost its quorum, answers syncs for
// syncLimit × tickTime too. Nobody can take a lock meanwhile, but the others start
// to count from later. What must not happen twice is written in a fenced transaction,
// as [Term.Multi] does.
//
// # Outcomes
//
// An operation ends when its context or its session does, and has one of three
// outcomes:
//
//   - done: the error is nil;
//   - not done: refused by the store ([ErrNoNode], [ErrBadVersion], …), or never
//     sent;
//   - ambiguous: the error is [ErrAmbiguous] beside its reason. It was sent, and no
//     answer has come.
//
// Reads are sent again after a lost connection; writes are sent once. To resolve an
// ambiguous one, [Session.Settle] and read: Settle returns when nothing that was sent
// before on this session is under way any more. (Bytes of a dead connection that lie
// unread in a server to which the session then returns are out of anybody's sight; what
// they hold is subject to its conditions still. So let a write have one: a version, or a
// name that is its own.) [Session.CreateProtected] and the recipes do this by themselves.
//
// # Watches
//
// [Session.Watch] and [Session.WatchChildren] give what a node is, and again when it
// is another, on the caller's own goroutine. They set the watch before they read, read
// again on each new connection, and from time to time besides (Config.Resync); states
// that follow closely are passed over, the last one never is. All who watch a node in
// a session share one watch in the store. A watch that nobody looks at any more stays
// there until it goes off, or the connection ends.
//
// # Connections
//
// Each connection has a library Conn of its own. The session is asked for, and
// resumed, by this package, with a bound on each attempt: a mute server, or one that
// sends half of its greeting, is left within a second. Credentials are presented on
// each connection before anything else. Names are resolved again in each round over
// the servers. Back-off is jittered in full, and capped at min(1 s, T/3).
//
// # Goroutines
//
// Start starts, Stop and Close wait: nothing is left when they return, within three
// seconds, but callbacks that do not return. No callback is on a goroutine that the
// package needs: OnState and Lead may block, and wait for the store.
package zk
