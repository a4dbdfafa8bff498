// Package wire is what goes over a connection: frames.
//
//	length   4 bytes, big endian: how many bytes follow
//	version  1 byte: of the protocol, as both sides agreed on
//	kind     1 byte
//	body     by kind
//
// The handshake's frames have version 0 for ever, so that releases that share
// no version can still say so:
//
//	dialler                      listener
//	Hello    versions, who, number, nonce  →
//	         ←  Welcome  version, who, nonce, limits, proof
//	Proof    when a secret is required     →
//	         ←  Refusal  instead of anything, with the reason
//
// From then on both sides send whatever they have. A target (an endpoint's name)
// and a type (a message's name) are defined once per connection and direction
// and have a number from then on, given in order from 0; no number is given twice.
//
//	Target   number, name
//	Type     number, name
//	Forget   all targets of this direction are forgotten
//	Tell     target, type, payload
//	Ask      id (8 bytes), milliseconds to wait (0: not said), target, type, payload
//	Reply    id, type, payload
//	Failure  id, a [FailureBody]; the id [NoAsk] is of one-way messages
//	Credit   target, bytes that were handled and may be sent anew
//	Ping, Pong
//	Goodbye  a [GoodbyeBody]: nothing more will come
//
// Numbers are varints. Bodies that are structs are written by package codec, so
// that fields can be added.
package wire
