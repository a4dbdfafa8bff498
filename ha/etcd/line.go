package etcd

import (
	"context"
	"fmt"
	"math"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"

	"github.com/leatdata/leat/ha"
)

// line is a connection to one member. gRPC makes it anew when it breaks, and says
// so: a call is never repeated, but when the member has refused its token.
type line struct {
	address string
	conn    *grpc.ClientConn
	account *account
	// ctx ends when the line is closed; inUse ends before, when no more calls are to
	// begin on it.
	ctx, inUse     context.Context
	cancel, retire context.CancelFunc

	// proven: it has answered a renewal.
	proven atomic.Bool

	mu sync.Mutex
	// trouble is why the last attempt to connect has failed.
	trouble error
}

// newLine begins to connect.
func newLine(address string, o Options, a *account) (*line, error) {
	l := &line{address: address, account: a}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.inUse, l.retire = context.WithCancel(l.ctx)
	dial := o.dialer(address)
	conn, err := grpc.NewClient("passthrough:///"+address,
		// The dialer does TLS itself, so that its errors keep their types.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			c, err := dial(ctx, address)
			l.mu.Lock()
			l.trouble = err
			l.mu.Unlock()
			return c, err
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithStatsHandler(witness{}),
		grpc.WithDisableServiceConfig(),
	)
	if err != nil {
		l.cancel()
		return nil, fmt.Errorf("%s: %w: %w", address, ha.ErrConfig, err)
	}
	l.conn = conn
	conn.Connect()
	return l, nil
}

// close ends the line and all calls on it.
func (l *line) close() {
	l.cancel()
	_ = l.conn.Close()
}

// call makes one call. sent says that the member may have got it. Its context
// ends with the line too.
func (l *line) call(ctx context.Context, do func(ctx context.Context) error) (sent bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	for again := true; ; again = false {
		with, err := l.account.authorize(ctx, l.conn)
		if err != nil {
			return false, err
		}
		passed := &passage{}
		err = do(context.WithValue(with, passageKey{}, passed))
		if err == nil || !again || !tokenRefused(err) {
			return passed.sent.Load(), err
		}
		l.account.forget()
	}
}

// cause is why the line does not connect, nil if it does.
func (l *line) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// passage notes whether a call's request was handed to a connection.
type passage struct{ sent atomic.Bool }

type passageKey struct{}

// witness implements stats.Handler: it marks the passages of calls.
type witness struct{}

func (witness) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (witness) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, out := s.(*stats.OutPayload); !out {
		return
	}
	if p, ok := ctx.Value(passageKey{}).(*passage); ok {
		p.sent.Store(true)
	}
}

func (witness) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (witness) HandleConn(context.Context, stats.ConnStats)                       {}
