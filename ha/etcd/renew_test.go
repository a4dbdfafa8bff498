package etcd

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// member is an etcd that says what a test tells it to.
type member struct {
	pb.UnimplementedLeaseServer
	pb.UnimplementedKVServer
	pb.UnimplementedWatchServer

	cluster, keepAliveTerm, readTerm uint64
	ttl                              int64
	lock                             *mvccpb.KeyValue
}

func (m *member) LeaseGrant(context.Context, *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return &pb.LeaseGrantResponse{Header: &pb.ResponseHeader{ClusterId: 1}, ID: 7, TTL: 10}, nil
}

func (m *member) LeaseRevoke(context.Context, *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return &pb.LeaseRevokeResponse{}, nil
}

func (m *member) LeaseKeepAlive(stream pb.Lease_LeaseKeepAliveServer) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	return stream.Send(&pb.LeaseKeepAliveResponse{
		Header: &pb.ResponseHeader{ClusterId: m.cluster, RaftTerm: m.keepAliveTerm}, ID: request.GetID(), TTL: m.ttl,
	})
}

func (m *member) Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
	lock := &pb.RangeResponse{}
	if m.lock != nil {
		lock.Kvs = append(lock.Kvs, m.lock)
	}
	epoch := &pb.RangeResponse{Kvs: []*mvccpb.KeyValue{{Value: coord.EpochRecord{Number: 9}.Encode()}}}
	return &pb.TxnResponse{Header: &pb.ResponseHeader{RaftTerm: m.readTerm}, Succeeded: true, Responses: []*pb.ResponseOp{
		{Response: &pb.ResponseOp_ResponseRange{ResponseRange: lock}},
		{Response: &pb.ResponseOp_ResponseRange{ResponseRange: epoch}},
	}}, nil
}

// serve runs the member, and opens a session with it.
func (m *member) serve(t *testing.T) coord.Session {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer()
	pb.RegisterLeaseServer(server, m)
	pb.RegisterKVServer(server, m)
	pb.RegisterWatchServer(server, m)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	o := Options{Endpoints: []string{"m:2379"}, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return listener.DialContext(ctx)
	}}
	s, err := newStore(ha.Config{SessionTimeout: 10 * time.Second, ClusterID: "/c"}, o.WithDefaults()).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// A renewal is proof only if whoever has answered it did lead the store.
func TestRenewalIsProvenByTheTermOfTheStore(t *testing.T) {
	t.Parallel()
	ours := ha.Term{Epoch: 8, Grant: "g"}
	lock := &mvccpb.KeyValue{Value: []byte("g"), Lease: 7}
	for name, c := range map[string]struct {
		member member
		fence  ha.Term
		want   error
		over   bool
	}{
		"answered":              {member: member{cluster: 1, keepAliveTerm: 3, readTerm: 3, ttl: 10}},
		"by a former leader":    {member: member{cluster: 1, keepAliveTerm: 3, readTerm: 4, ttl: 10}, want: ha.ErrUnavailable},
		"the lease has ended":   {member: member{cluster: 1, keepAliveTerm: 3, readTerm: 3}, want: coord.ErrSessionOver, over: true},
		"by another store":      {member: member{cluster: 2, keepAliveTerm: 3, readTerm: 3}, want: ha.ErrConfig},
		"fenced and ours":       {member: member{cluster: 1, keepAliveTerm: 3, readTerm: 3, ttl: 10, lock: lock}, fence: ours},
		"fenced, no lock":       {member: member{cluster: 1, keepAliveTerm: 3, readTerm: 3, ttl: 10}, fence: ours, want: ha.ErrFenced},
		"fenced, another grant": {member: member{cluster: 1, keepAliveTerm: 3, readTerm: 3, ttl: 10, lock: lock}, fence: ha.Term{Epoch: 8, Grant: "h"}, want: ha.ErrFenced},
		"fenced, an older session's": {
			member: member{cluster: 1, keepAliveTerm: 3, readTerm: 3, ttl: 10, lock: &mvccpb.KeyValue{Value: []byte("g"), Lease: 6}},
			fence:  ours, want: ha.ErrFenced,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.member.serve(t)
			err := s.Renew(t.Context(), c.fence)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("renewed: %v, want %v", err, c.want)
			}
			if refusal, ok := errors.AsType[*ha.FencedError](err); ok && refusal.Epoch != 9 {
				t.Errorf("refused with epoch %d", refusal.Epoch)
			}
			select {
			case <-s.Over():
				if !c.over {
					t.Error("the session is over")
				}
			default:
				if c.over {
					t.Error("the session is not over")
				}
			}
		})
	}
}
