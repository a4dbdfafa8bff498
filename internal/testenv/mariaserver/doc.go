// Package mariaserver runs a private MariaDB on a free loopback port, for tests
// and for measurements, as package pgserver does a PostgreSQL. It imports
// nothing of who uses it, who has an own way to ask the server.
//
// A server is made by Create, which returns it running. Stop ends it at once,
// as a crash would, and Start runs it again on the same port and data; when we
// are killed, the kernel ends it.
package mariaserver
