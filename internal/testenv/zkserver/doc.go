// Package zkserver runs private ZooKeepers on free loopback ports, for tests and
// for measurements: one server alone, or an ensemble. It imports nothing of who
// uses it.
//
// An ensemble is made by Create, which returns it serving. Each [Member] can be
// killed, frozen and started again by itself, on the same ports and data; when we
// are killed, the kernel ends them all.
package zkserver
