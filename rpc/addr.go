package rpc

import (
	"crypto/x509"
	"encoding/hex"
)

// Addr is where an Env is found: "host:port", or "@" and an id for one that does
// not listen, which can be reached only over the connections it has made.
type Addr string

// id is of one start of an Env: a restarted process has another.
type id [16]byte

func (i id) addr() Addr { return Addr("@" + hex.EncodeToString(i[:])) }

// Peer is the process that a message came from.
type Peer struct {
	// Addr is where it says that it can be reached. It is the peer's word: what
	// may be trusted is the certificate.
	Addr Addr
	// Certificate is what it has shown with TLS; nil without, and for ourselves.
	Certificate *x509.Certificate
	// Local says that it is this process.
	Local bool

	id id
}
