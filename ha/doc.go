// Package ha is what a process needs to be highly available: an election,
// retrieval of who leads, and stores that only the leader can write to. It holds
// interfaces and values and imports nothing of ours; ha/standalone, ha/embedded,
// ha/zookeeper and ha/etcd implement it, and ha/hatest is the contract that all
// of them pass. The model is Flink's HighAvailabilityServices.
//
//	services, err := registry.Open(ctx, ha.Config{Type: "zookeeper", …})
//	election := services.Election("dispatcher")
//	err = election.Start(contender)
//
//	// contender.Grant is called once this process leads:
//	func (c *contender) Grant(ctx context.Context, id ha.SessionID, term ha.Term) error {
//		d := newDispatcher(ctx, term)                 // anew for each grant
//		election.Confirm(id, d.Address())             // now others find it
//		return services.JobGraphs().Put(ctx, term, …) // fenced by the term
//	}
//
// # A process
//
//	            opened              lock taken
//	joining ──────────► following ────────────► leading ◄──► leading-suspended
//	   ▲                    ▲                      │ resigned, fenced,     │
//	   │                    └────── hold-off ◄─────┤ superseded            │
//	   └──────────── lease over ───────────────────┴───────────────────────┘
//
// All components of a process lead, or none does. Joining never ends by itself,
// however often and at whatever moment the store goes away; nothing waits for an
// event that may be lost. Package ha/internal/election has the whole diagram.
//
// # A component
//
//	Start ──► waits ──Grant(ctx, id, term)──► serves ──ctx ends──► Revoke ──► waits
//	                                            │ Confirm(id, address): published
//	                                            │ error, Resign(id): others first
//	any ──Stop──► the last callback has returned
//
// # What is guaranteed
//
//   - Epochs only grow: across processes, a deleted namespace, and a store that was
//     restored from an old copy, as long as the storage's marks are there.
//   - No two terms overlap in effect: a write that carries a term is accepted only
//     while that grant is the present one, in the store's own transaction. Its
//     refusal says which number the store is at, and ends the grant.
//   - A grant's context ends before anybody else can lead: at the start of the last
//     renewal that succeeded + T - margin, by a clock that counts a suspended
//     machine (on a machine that was suspended, up to T/6 after it wakes;
//     HasLeadership is right at once). That is for speed; the fence is for safety.
//   - A loss of the store shorter than T/2 changes nothing: same epoch, no callback.
//   - After the store is healed, exactly one process leads within T + the store's
//     tick + min(1 s, T/3). (etcd: 2 × T + its election.)
//   - Grant and Revoke come in pairs; Revoke has been called before another process
//     is granted, and what blocks in it delays neither that nor anybody else.
//   - A listener hears each change once, and never the same twice.
//   - What a store acknowledged is there. A pointer never points to nothing, nothing
//     that is pointed to is removed, and nothing else is kept for ever.
//   - A checkpoint id is given once. The newest checkpoint that cannot be read is an
//     error, never an older one in its place.
//
// # What is not
//
//   - That an administrator who ends a session, deletes the namespace or restores a
//     copy is noticed at once: until then two may think that they lead. Writes of
//     the former are refused.
//   - That an ErrAmbiguous was done, or was not: asking again is safe.
//   - That a Revoke which never returns ends: its contender is told that it is
//     overdue, and the process should end itself.
//
// # Who does what
//
// Callers retry writes that failed with ErrUnavailable or ErrAmbiguous, beyond the
// few tries that each call makes; all of them are idempotent. The services retry
// joining, renewing and publishing for ever. Callbacks come on goroutines that
// serve one contender or listener alone. Byte slices that are handed in are not
// kept, and those that are handed out are the caller's own.
package ha
