// Command program is the etcd server, as its module gives it. It is a module of its own,
// so that nothing of the server is in leat's.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
