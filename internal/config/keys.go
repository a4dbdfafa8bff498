package config

import "time"

// Keys returns all keys, by section.
func Keys() []Key {
	return append(haKeys(), heartbeatKeys()...)
}

func haKeys() []Key {
	const (
		ha   = "high-availability."
		zk   = ha + "zookeeper."
		etcd = ha + "etcd."
	)
	return []Key{
		{Name: ha + "type", Default: "none", Doc: "none, embedded, zookeeper, etcd, or a factory registered by name"},
		{Name: ha + "storageDir", Doc: "where blobs, graphs and checkpoint state go, shared by all masters; required for zookeeper and etcd"},
		{Name: ha + "cluster-id", Default: "/default", Doc: "keeps clusters in one store apart"},
		{Name: ha + "address.dispatcher", Doc: "host:port of the dispatcher, for type none"},
		{Name: ha + "address.resource_manager", Doc: "host:port of the resource manager, for type none"},
		{Name: ha + "address.rest_server", Doc: "host:port of the REST server, for type none"},
		{Name: ha + "checkpoints.keep", Kind: Count, Default: "3", Min: 1, Doc: "how many completed checkpoints a job keeps"},
		{Name: ha + "embedded.session-timeout", Kind: Duration, Default: "10s", Min: int64(100 * time.Millisecond), Doc: "the session timeout of the embedded store"},
		{Name: zk + "quorum", Doc: "host:port,host:port; required for zookeeper"},
		{Name: zk + "client.session-timeout", Kind: Duration, Default: "10s", Min: int64(100 * time.Millisecond), Doc: "how long a failover waits; the servers may give another"},
		{Name: zk + "client.connection-timeout", Kind: Duration, Default: "15s", Min: int64(time.Millisecond), Doc: "for one attempt to connect; never above the session timeout in use"},
		{Name: zk + "client.retry-wait", Kind: Duration, Default: "100ms", Min: int64(time.Millisecond), Doc: "the base of an exponential, jittered back-off capped at 5s"},
		{Name: zk + "client.max-retry-attempts", Kind: Count, Default: "3", Doc: "for one operation; rejoining an election has no limit"},
		{Name: zk + "client.acl", Default: "open", Enum: []string{"open", "creator"}, Doc: "who may read and write our nodes"},
		{Name: zk + "client.digest", Secret: true, Doc: "user:password for digest authentication"},
		{Name: zk + "path.root", Default: "/leat", Doc: "below which everything of ours is"},
		{Name: zk + "path.latch", Default: "/leaderlatch", Doc: "who leads"},
		{Name: zk + "path.leader", Default: "/leader", Doc: "addresses of components that have confirmed"},
		{Name: zk + "path.checkpoints", Default: "/checkpoints", Doc: "pointers to completed checkpoints"},
		{Name: zk + "path.checkpoint-counter", Default: "/checkpoint-counter", Doc: "the last checkpoint ids"},
		{Name: zk + "path.running-registry", Default: "/running_job_registry", Doc: "jobs that run"},
		{Name: zk + "path.jobgraphs", Default: "/jobgraphs", Doc: "pointers to job graphs"},
		{Name: etcd + "endpoints", Doc: "host:port,host:port, with https:// before each for TLS; required for etcd"},
		{Name: etcd + "client.session-timeout", Kind: Duration, Default: "10s", Min: int64(time.Second), Doc: "the time to live of a lease, in whole seconds; the servers may give a longer one"},
		{Name: etcd + "client.connection-timeout", Kind: Duration, Default: "15s", Min: int64(time.Millisecond), Doc: "for opening a session, over all members; never above the session timeout"},
		{Name: etcd + "client.user", Doc: "who we are to etcd, if it wants to know"},
		{Name: etcd + "client.password", Secret: true, Doc: "the user's password"},
		{Name: etcd + "client.tls.ca-file", Doc: "the authorities that members' certificates are signed by, in PEM; with it, TLS is spoken"},
		{Name: etcd + "client.tls.certificate-file", Doc: "our own certificate, in PEM"},
		{Name: etcd + "client.tls.key-file", Doc: "the key of our own certificate, in PEM"},
		{Name: etcd + "path.root", Default: "/leat", Doc: "below which everything of ours is"},
		{Name: "zookeeper.sasl.disable", Kind: Bool, Default: "true", Doc: "there is no SASL: only true is accepted"},
	}
}

func heartbeatKeys() []Key {
	const hb = "heartbeat."
	least := int64(time.Millisecond)
	return []Key{
		{Name: hb + "interval", Kind: Duration, Default: "10s", Min: least, Doc: "between two heartbeats by rpc"},
		{Name: hb + "timeout", Kind: Duration, Default: "50s", Min: least, Doc: "after which silence counts as loss"},
		{Name: hb + "rpc-failure-threshold", Kind: Count, Default: "2", Min: 1, Doc: "failed heartbeats in a row that count as unreachable"},
		{Name: hb + "suspect-limit", Kind: Duration, Default: "2m30s", Min: least, Doc: "how long a worker that only its counter speaks for is suspect before it is dead"},
		{Name: hb + "orphan-grace", Kind: Duration, Default: "1m", Min: least, Doc: "after which a worker that both witnesses have failed fences itself"},
		{Name: hb + "counter.interval", Kind: Duration, Default: "5s", Min: least, Doc: "between two writes of a worker's counter"},
		{Name: hb + "counter.check-period", Kind: Duration, Default: "5s", Min: least, Doc: "between two looks of a master at the counters"},
		{Name: hb + "counter.max-misses", Kind: Count, Default: "4", Min: 1, Doc: "looks in a row at which a counter has not moved"},
	}
}
