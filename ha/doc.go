// Package ha is what a component needs to be highly available: an election,
// retrieval of who leads, and stores that only the leader can write to. It holds
// interfaces and values and imports nothing of ours; ha/standalone, ha/embedded,
// ha/zookeeper and ha/etcd implement it, and ha/hatest is the contract that all
// of them pass. The model is Flink's HighAvailabilityServices.
package ha
