// Package pgserver runs a private PostgreSQL on a free loopback port, for tests
// and for measurements. It imports no driver: who uses
// it has its own way to ask the server.
//
// A server is made by Create, which returns it running. Stop ends it at once,
// as a crash of its processes would, and Start runs it again on the same port
// and data; when we are killed, the kernel ends it.
package pgserver
