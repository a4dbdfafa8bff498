package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// Comparisons of a transaction. One of the value or the lease of a key that is not
// there fails.

func absent(key string) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_CREATE, Result: pb.Compare_EQUAL,
		TargetUnion: &pb.Compare_CreateRevision{CreateRevision: 0},
	}
}

func present(key string) *pb.Compare {
	c := absent(key)
	c.Result = pb.Compare_GREATER
	return c
}

func modifiedAt(key string, revision int64) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_MOD, Result: pb.Compare_EQUAL,
		TargetUnion: &pb.Compare_ModRevision{ModRevision: revision},
	}
}

func holds(key string, value []byte) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_VALUE, Result: pb.Compare_EQUAL,
		TargetUnion: &pb.Compare_Value{Value: value},
	}
}

func ownedBy(key string, lease int64) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_LEASE, Result: pb.Compare_EQUAL,
		TargetUnion: &pb.Compare_Lease{Lease: lease},
	}
}

// Steps of a transaction.

func get(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: []byte(key)}}}
}

// put sets a key; with a lease, it goes with that, whatever it was before.
func put(key string, value []byte, lease int64) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{
		RequestPut: &pb.PutRequest{Key: []byte(key), Value: value, Lease: lease},
	}}
}

// remove removes a key; that there is none is no error.
func remove(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{
		RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)},
	}}
}

// got is what the i-th step of a transaction's answer, a get, has found; nil:
// there is no such key.
func got(answer *pb.TxnResponse, i int) *mvccpb.KeyValue {
	if i >= len(answer.GetResponses()) {
		return nil
	}
	kvs := answer.GetResponses()[i].GetResponseRange().GetKvs()
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}
