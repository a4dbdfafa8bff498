package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/metadata"

	"github.com/leatdata/leat/ha/internal/coord"
)

// watch is a range of keys, and who is told of changes in it.
type watch struct {
	from, to []byte
	signals  chan struct{}
}

// watches are all that a session watches, whatever the line: the session's mutex
// guards them. A line that is new makes each anew and signals it, so that nothing
// is missed in between.
type watches struct {
	last int64
	all  map[int64]*watch
	// changed is closed, and made anew, when there are others.
	changed chan struct{}
}

func newWatches() watches {
	return watches{all: map[int64]*watch{}, changed: make(chan struct{})}
}

func (w *watches) add(added *watch) int64 {
	w.last++
	w.all[w.last] = added
	w.tell()
	return w.last
}

func (w *watches) remove(id int64) {
	delete(w.all, id)
	w.tell()
}

func (w *watches) tell() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Watch implements coord.Session.
func (s *session) Watch(ctx context.Context, key coord.Key) (<-chan struct{}, error) {
	w := &watch{signals: make(chan struct{}, 1)}
	w.from, w.to = s.layout.span(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver {
		return nil, coord.ErrSessionOver
	}
	id := s.watches.add(w)
	s.work.Go(func() {
		select {
		case <-ctx.Done():
		case <-s.over:
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watches.remove(id)
		close(w.signals)
	})
	return w.signals, nil
}

// errWatchEnded says that the store has ended one watch, and not all.
var errWatchEnded = errors.New("watch ended")

// serveWatches keeps all watches on a line, for as long as it is in use. When their
// stream breaks, the line is left: the member may have lost the others.
func (s *session) serveWatches(l *line) {
	for l.inUse.Err() == nil {
		err := s.watchOn(l)
		if l.inUse.Err() != nil {
			return
		}
		if errors.Is(err, errWatchEnded) {
			// Perhaps the token was too old for it, or we may not read what is there.
			l.account.forget()
			coord.Pause(l.inUse, time.Second)
			continue
		}
		coord.Pause(l.inUse, retryWait/2+rand.N(retryWait))
		s.leave(l)
	}
}

// watchOn runs one stream of watches until it breaks.
func (s *session) watchOn(l *line) error {
	_, err := l.call(l.inUse, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		var sending sync.WaitGroup
		defer sending.Wait()
		defer cancel()
		// A member without a leader may miss changes: it is to say so.
		ctx = metadata.AppendToOutgoingContext(ctx, rpctypes.MetadataRequireLeaderKey, rpctypes.MetadataHasLeader)
		stream, err := pb.NewWatchClient(l.conn).Watch(ctx)
		if err != nil {
			return err
		}
		sending.Go(func() { s.askFor(stream) })
		for {
			answer, err := stream.Recv()
			if err == nil {
				err = s.heard(answer)
			}
			if err != nil {
				return err
			}
		}
	})
	return err
}

// askFor tells a stream which watches there are, until it ends.
func (s *session) askFor(stream pb.Watch_WatchClient) {
	asked := map[int64]*watch{}
	for {
		s.mu.Lock()
		wanted, changed := maps.Clone(s.watches.all), s.watches.changed
		s.mu.Unlock()
		for id, w := range wanted {
			if asked[id] == nil && stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{
				CreateRequest: &pb.WatchCreateRequest{WatchId: id, Key: w.from, RangeEnd: w.to},
			}}) != nil {
				return // Recv says why
			}
		}
		for id := range asked {
			if wanted[id] == nil && stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{
				CancelRequest: &pb.WatchCancelRequest{WatchId: id},
			}}) != nil {
				return
			}
		}
		asked = wanted
		select {
		case <-changed:
		case <-stream.Context().Done():
			return
		}
	}
}

// heard passes on what a stream tells: that a watch is there (and what was before it
// may have been missed), or events.
func (s *session) heard(answer *pb.WatchResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches.all[answer.GetWatchId()]
	if w == nil {
		if answer.GetCanceled() && answer.GetCreated() {
			return fmt.Errorf("%w: %s", errWatchEnded, answer.GetCancelReason())
		}
		return nil // not wanted any more
	}
	coord.Wake(w.signals)
	if answer.GetCanceled() {
		return fmt.Errorf("%w: %s", errWatchEnded, answer.GetCancelReason())
	}
	return nil
}
