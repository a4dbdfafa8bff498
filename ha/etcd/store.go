package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// store implements coord.Store.
type store struct {
	options Options
	layout  layout
	account *account
	ttl     int64 // of leases, in seconds
	// next is which endpoint is tried next.
	next atomic.Uint64
}

func newStore(cfg ha.Config, options Options) *store {
	s := &store{
		options: options, layout: newLayout(options.Root, cfg.ClusterID), ttl: seconds(cfg.SessionTimeout),
		account: &account{user: options.User, password: options.Password},
	}
	s.next.Store(rand.Uint64N(1 << 32))
	return s
}

// seconds is a duration in the unit of leases, rounded up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// connect begins a line to the next endpoint.
func (s *store) connect() (*line, error) {
	n := uint64(len(s.options.Endpoints))
	return newLine(s.options.Endpoints[s.next.Add(1)%n], s.options, s.account)
}

// Open implements coord.Store. Each endpoint is tried once, within its share of the
// time: one that accepts and stays mute holds up nobody for long.
func (s *store) Open(ctx context.Context) (coord.Session, error) {
	timeout := time.Duration(s.ttl) * time.Second
	within := min(s.options.ConnectionTimeout, timeout)
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var errs []error
	for left := len(s.options.Endpoints); left > 0; left-- {
		opened, err := s.openOne(ctx, left)
		if err == nil {
			return opened, nil
		}
		errs = append(errs, err)
		if errors.Is(err, ha.ErrForbidden) || ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// openOne has one endpoint grant a lease. One that is granted though its answer is
// lost owns nothing, and ends by itself.
func (s *store) openOne(ctx context.Context, left int) (*session, error) {
	l, err := s.connect()
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	var lease *pb.LeaseGrantResponse
	_, err = l.call(ctx, func(ctx context.Context) (err error) {
		lease, err = pb.NewLeaseClient(l.conn).LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: s.ttl})
		return err
	})
	if err != nil {
		err = s.failure(l, err)
		l.close()
		return nil, fmt.Errorf("open a session: %w", err)
	}
	return newSession(s, l, lease), nil
}
