// Package ratelimit holds one limit for all workers of a job: bytes per second,
// records per second, or both. A [Ledger] is where the master is, a [Limiter] in
// each worker. Values pass between them, a Report and a Lease; how they travel is
// the caller's business. It knows nothing of jobs.
//
//	ledger := ratelimit.NewLedger(ratelimit.Config{
//		Limit: ratelimit.Amount{Bytes: 20 << 20}, Parallelism: 4,
//	})
//	ledger.Join(0)
//	limiter := ratelimit.NewLimiter(true)
//
//	// a few times in a window of 100 ms:
//	if r, due := limiter.Report(); due {
//		ledger.Report(now, 0, r)
//	}
//	ledger.Tick(now)
//	for _, g := range ledger.Grants() {
//		limiterOf(g.Worker).Grant(g.Lease)
//	}
//
//	// the worker, before it passes a batch on:
//	err := limiter.Wait(ctx, ratelimit.Amount{Bytes: 26_000, Records: 200})
//
// # Tokens
//
// There are as many tokens as the limit allows per second. Each is in one place:
//
//	         Lease                        used, by a Report
//	free ─────────────► leased to a worker ───────────────► cooling, for a second
//	 ▲                      │         │                          │
//	 │ ◄── given back ──────┘         └── the lease has ended ──►│
//	 └───────────────────────────────────────────────────────────┘
//
// A token that was used is away for a second and up to a step more, so no token is
// used twice in a second: no second sees more than the limit, whoever uses them,
// and however late or never reports come. What is leased and neither used nor
// given back has ended after two windows, and cools from then on.
//
// Since it is known when tokens come back, they are leased ahead: a lease opens in
// steps through its window. Tokens that lay unused are made up for, at a quarter
// of the limit at most, and no more than two windows' worth are kept. Who splits
// them is a [Policy]: [Fair] gives those who do not wait a little more than they
// used, and the rest in even parts to those who do. A worker without a batch for a
// fifth of a window gives back what it has, and that is leased again at once.
//
// # Large records
//
// A batch should be at most [Limiter.Bound], limit ÷ (200 × parallelism), but holds
// one record at least. A record that a lease does not pay soon is asked for, and
// waits until it is granted whole: it passes then, and all tokens that come back
// pay for it before others are leased. There is one such debt at a time, and each
// worker has its turn by what it has been served. So a second sees at most the
// limit and one record more.
//
// # A worker
//
//	            first lease                  no lease for four windows
//	no lease ───────────────► leases in turn ─────────────────────────► floor
//	(nothing passes)               ▲                                      │
//	                               └──────────── a lease ◄────────────────┘
//	any ──── a lease without a limit ───► off: everything passes
//
// At its floor, limit ÷ parallelism, a worker passes batches up to the bound on its
// own; larger records wait. A lease counts from the sending of the report that it
// answers, so that it ends on the worker's clock before it does on the ledger's,
// and silence from the lease's arrival, so that it begins later.
//
// The ledger lets a worker that may be silent use its floor's tokens, until a
// report names a lease; or until Leave says that it cannot pass anything any more.
//
// # A new master
//
// It begins with Adopt: all workers count as silent. For two windows it leases
// nothing (Lease.Hold): old leases run out, floors go on. A worker counts as heard
// once its report names a lease of the new master's, and brings what a record that
// the old one granted whole still owes.
//
// # What is guaranteed
//
//   - What passes in any second is at most the limit, and one record more where
//     records are larger than a lease pays soon; with any workers cut off, and any
//     change of masters that Adopt is told of. Two records more may pass when a
//     master dies that had just granted one whole, to a worker that the new one
//     does not hear.
//   - What is not used by one comes to those who want it within about a window.
//   - Charged is the true size that Wait is told.
//   - Wait ends at once by its context, and by a limit that ends; a change is heard
//     at the next exchange. A ledger without a limit says so to whoever reports.
//
// # What is not
//
//   - That clocks run alike: a worker whose clock runs slower by a share passes as
//     much more.
//   - The lower limit, after a change, while a worker that is cut off does not know
//     of it.
package ratelimit
