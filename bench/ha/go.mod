module github.com/leatdata/leat/bench/ha

go 1.26.8

require github.com/leatdata/leat v0.0.0

require (
	github.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/leatdata/leat => ../..
