// Package memstore is a coordination store within one process: in memory, or
// with its records on disk. It is what ha/embedded runs on, and what everything
// above coord is tested on: a Client can be cut off, lose replies and be expired.
//
// A [Server] keeps records, sessions and watches, as ZooKeeper does: what a
// session owns goes when its timeout has passed without a renewal. On disk are
// the records without owner and the epoch; each write is durable before it is
// answered. The folder is locked while a session is open, so that processes of one
// machine that share it take turns.
package memstore
