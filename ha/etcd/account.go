package etcd

import (
	"context"
	"errors"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// account is who we are to the store. Its token is good for all members, until one
// refuses it.
type account struct {
	user, password string

	mu    sync.Mutex
	token string
}

// authorize adds the token to a call, and asks for one first if there is none.
func (a *account) authorize(ctx context.Context, conn *grpc.ClientConn) (context.Context, error) {
	if a.user == "" {
		return ctx, nil
	}
	a.mu.Lock()
	token := a.token
	a.mu.Unlock()
	if token == "" {
		answer, err := pb.NewAuthClient(conn).Authenticate(ctx, &pb.AuthenticateRequest{Name: a.user, Password: a.password})
		if errors.Is(rpctypes.Error(err), rpctypes.ErrAuthNotEnabled) {
			return ctx, nil
		}
		if err != nil {
			return nil, err
		}
		token = answer.GetToken()
		a.mu.Lock()
		a.token = token
		a.mu.Unlock()
	}
	return metadata.AppendToOutgoingContext(ctx, rpctypes.TokenFieldNameGRPC, token), nil
}

func (a *account) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = ""
}

// tokenRefused says that a call was refused because its token is none any more.
func tokenRefused(err error) bool {
	err = rpctypes.Error(err)
	return errors.Is(err, rpctypes.ErrInvalidAuthToken) || errors.Is(err, rpctypes.ErrAuthOldRevision) ||
		errors.Is(err, rpctypes.ErrUserEmpty)
}
