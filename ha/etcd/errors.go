package etcd

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// errLeaseGone is a keep-alive's answer for a lease that has ended.
var errLeaseGone = errors.New("the lease has ended")

func leaseGone(err error) bool {
	return errors.Is(err, errLeaseGone) || errors.Is(rpctypes.Error(err), rpctypes.ErrLeaseNotFound)
}

// memberFails says that another member may do better: this one cannot be reached, has
// no leader, is no leader though it was one, or belongs to another store.
func memberFails(err error) bool {
	if errors.Is(err, ha.ErrConfig) {
		return true
	}
	s, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch s.Code() {
	case codes.Unavailable, codes.Internal, codes.DataLoss, codes.Unknown:
		return true
	default:
		return false
	}
}

// readFailure puts the error of a call that changes nothing into the words of the
// seam.
func (s *session) readFailure(l *line, err error) error {
	switch {
	case err == nil:
		return nil
	case l == nil, leaseGone(err), s.alive.Err() != nil:
		return over(err)
	}
	return s.store.failure(l, err)
}

// writeFailure is readFailure for a call that changes something. Unless the member
// has refused it, or never got it, nobody knows.
func (s *session) writeFailure(l *line, sent bool, err error) error {
	if err == nil || !sent || isRefusal(err) {
		return s.readFailure(l, err)
	}
	if s.alive.Err() != nil {
		err = over(err)
	}
	return fmt.Errorf("%w: etcd at %s: %w", ha.ErrAmbiguous, l.address, err)
}

func over(err error) error {
	if errors.Is(err, coord.ErrSessionOver) {
		return err
	}
	return fmt.Errorf("%w: %w", coord.ErrSessionOver, err)
}

// isRefusal says that the error is an answer that rules out that anything was done.
func isRefusal(err error) bool {
	_, told := refusal(err)
	return told || leaseGone(err)
}

// refusal is what a member's answer means, and what to do about it.
func refusal(err error) (meaning error, told bool) {
	named := rpctypes.Error(err)
	is := func(some ...error) bool {
		for _, e := range some {
			if errors.Is(named, e) {
				return true
			}
		}
		return false
	}
	switch {
	case is(rpctypes.ErrPermissionDenied):
		return fmt.Errorf("the user of high-availability.%s may not use the keys below high-availability.%s: "+
			"grant a role of it readwrite with that prefix: %w", userKey, rootKey, ha.ErrForbidden), true
	case is(rpctypes.ErrAuthFailed, rpctypes.ErrUserNotFound):
		return fmt.Errorf("check high-availability.%s and %s: %w", userKey, passwordKey, ha.ErrForbidden), true
	case is(rpctypes.ErrUserEmpty, rpctypes.ErrInvalidAuthToken):
		return fmt.Errorf("it wants to know a user: set high-availability.%s and %s: %w", userKey, passwordKey, ha.ErrForbidden), true
	case is(rpctypes.ErrTooManyOps):
		return fmt.Errorf("raise its --max-txn-ops: %w", ha.ErrConfig), true
	case is(rpctypes.ErrRequestTooLarge):
		return fmt.Errorf("raise its --max-request-bytes: %w", ha.ErrConfig), true
	case is(rpctypes.ErrLeaseTTLTooLarge):
		return fmt.Errorf("lower high-availability.%s: %w", sessionTimeoutKey, ha.ErrConfig), true
	case is(rpctypes.ErrDuplicateKey, rpctypes.ErrEmptyKey):
		return ha.ErrConfig, true
	case is(rpctypes.ErrNoSpace):
		return fmt.Errorf("compact and defragment it, then disarm its alarm: %w", ha.ErrUnavailable), true
	case is(rpctypes.ErrNoLeader, rpctypes.ErrTooManyRequests, rpctypes.ErrAuthOldRevision):
		return ha.ErrUnavailable, true
	case status.Code(err) == codes.ResourceExhausted:
		// gRPC's own limit, above that of the server.
		return fmt.Errorf("raise its --max-request-bytes: %w", ha.ErrConfig), true
	}
	return nil, false
}

// failure names the member, what is wrong with it, and what to do.
func (s *store) failure(l *line, err error) error {
	for _, known := range []error{ha.ErrFenced, ha.ErrUnavailable, ha.ErrConfig} {
		if errors.Is(err, known) {
			return err
		}
	}
	meaning, told := refusal(err)
	if !told {
		meaning = trouble(l.cause())
	}
	return fmt.Errorf("etcd at %s: %w: %w", l.address, meaning, rpctypes.Error(err))
}

// errHandshake is of TLS.
var errHandshake = errors.New("TLS handshake")

// trouble is what it means that a member cannot be connected to.
func trouble(cause error) error {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		return fmt.Errorf("its certificate is not trusted: check high-availability.%s, and the name in the certificate: %w",
			caKey, ha.ErrForbidden)
	}
	// One that speaks none answers something else, or ends the connection.
	if _, other := errors.AsType[tls.RecordHeaderError](cause); other || errors.Is(cause, errHandshake) && errors.Is(cause, io.EOF) {
		return fmt.Errorf("it speaks no TLS: write http:// before it in high-availability.%s, and no keys of TLS: %w",
			endpointsKey, ha.ErrUnavailable)
	}
	return ha.ErrUnavailable
}
