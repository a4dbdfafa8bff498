// Package etcdserver runs private etcd servers on free loopback ports, for tests and
// for measurements: one server alone, or a cluster. It imports nothing of who uses it.
//
// A cluster is made by Create, which returns it serving. Each [Member] can be killed,
// frozen and started again by itself, on the same ports and data; when we are killed,
// the kernel ends them all. The server itself is [Build]'s: the folder program is a
// module of its own.
package etcdserver
