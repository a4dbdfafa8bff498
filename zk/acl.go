package zk

import zookeeper "github.com/go-zookeeper/zk"

// ACL is an entry of a node's access list: who (an id of a scheme) may do what.
type ACL struct {
	Permissions Permission
	Scheme, ID  string
}

// Permission is a set of what may be done to a node.
type Permission int32

// The permissions, and all of them.
const (
	PermissionRead Permission = 1 << iota
	PermissionWrite
	PermissionCreate
	PermissionDelete
	PermissionAdmin
	PermissionAll Permission = 31
)

// OpenACL lets anybody do anything.
func OpenACL() []ACL { return []ACL{{PermissionAll, "world", "anyone"}} }

// CreatorACL lets only those do anything who have the credentials that the node
// is created with.
func CreatorACL() []ACL { return []ACL{{PermissionAll, "auth", ""}} }

// DigestACL lets only the user of that name and password do what is permitted.
func DigestACL(permissions Permission, user, password string) []ACL {
	return ours(zookeeper.DigestACL(int32(permissions), user, password))
}

func theirs(list []ACL) []zookeeper.ACL {
	out := make([]zookeeper.ACL, len(list))
	for i, a := range list {
		out[i] = zookeeper.ACL{Perms: int32(a.Permissions), Scheme: a.Scheme, ID: a.ID}
	}
	return out
}

func ours(list []zookeeper.ACL) []ACL {
	out := make([]ACL, len(list))
	for i, a := range list {
		out[i] = ACL{Permission(a.Perms), a.Scheme, a.ID}
	}
	return out
}
