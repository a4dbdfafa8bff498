package zk

import (
	"context"
	"errors"
	"fmt"

	zookeeper "github.com/go-zookeeper/zk"
)

// Op is one operation of a [Session.Multi].
type Op struct {
	kind    opKind
	path    string
	data    []byte
	version int32
	mode    Mode
	acl     []ACL
}

type opKind string

const (
	opCreate opKind = "create"
	opSet    opKind = "set"
	opDelete opKind = "delete"
	opCheck  opKind = "check"
)

// CreateOp is [Session.Create] as a part of a Multi. A container cannot be.
func CreateOp(path string, data []byte, mode Mode, acl ...ACL) Op {
	return Op{kind: opCreate, path: path, data: data, mode: mode, acl: acl}
}

// SetOp is [Session.Set] as a part of a Multi.
func SetOp(path string, data []byte, version int32) Op {
	return Op{kind: opSet, path: path, data: data, version: version}
}

// DeleteOp is [Session.Delete] as a part of a Multi.
func DeleteOp(path string, version int32) Op {
	return Op{kind: opDelete, path: path, version: version}
}

// CheckOp changes nothing and is refused unless the node has that version: with
// [AnyVersion], unless it exists.
func CheckOp(path string, version int32) Op {
	return Op{kind: opCheck, path: path, version: version}
}

// Path is the node's.
func (o Op) Path() string { return o.path }

// String names the operation and the node.
func (o Op) String() string { return string(o.kind) + " " + o.path }

// Result is what became of one operation of a Multi that was done.
type Result struct {
	// Path is the node that was created.
	Path string
	// Stat is the node's whose data was set.
	Stat Stat
}

// Multi does all of the operations in one transaction, or none. When it is
// refused, the error is a [*MultiError] that says which is why. It is sent once:
// an ambiguous one is resolved by the caller, who reads after a [Session.Settle].
func (s *Session) Multi(ctx context.Context, ops ...Op) ([]Result, error) {
	if len(ops) == 0 {
		return nil, nil
	}
	requests, size, err := s.requests(ops)
	if err != nil {
		return nil, &OpError{Op: "multi", Err: err}
	}
	o := op{name: "multi", write: true, size: size}
	return run(ctx, s, o, func(l *link) ([]Result, error) {
		answers, err := l.conn.Multi(requests...)
		if err != nil {
			return nil, blame(ops, answers, err)
		}
		return s.results(answers), nil
	})
}

// requests are the library's form of operations, and what they take together.
func (s *Session) requests(ops []Op) ([]any, int, error) {
	requests, total := make([]any, len(ops)), perRequest
	for i, part := range ops {
		request, size, err := s.request(part)
		if err != nil {
			return nil, 0, &MultiError{i, part, err}
		}
		requests[i] = request
		total += size
	}
	return requests, total, nil
}

// request is the library's form of an operation, and what it takes.
func (s *Session) request(o Op) (any, int, error) {
	if o.path == "" || o.path[0] != '/' {
		return nil, 0, ErrInvalidPath
	}
	path := s.root.full(o.path)
	switch o.kind {
	case opCreate:
		if o.mode == Container {
			return nil, 0, fmt.Errorf("a container in a multi: %w", ErrBadArguments)
		}
		acl := s.acl(o.acl)
		return &zookeeper.CreateRequest{Path: path, Data: o.data, Acl: theirs(acl), Flags: int32(o.mode)}, createSize(path, o.data, acl), nil
	case opSet:
		return &zookeeper.SetDataRequest{Path: path, Data: o.data, Version: o.version}, perRequest + len(path) + len(o.data), nil
	case opDelete:
		return &zookeeper.DeleteRequest{Path: path, Version: o.version}, perRequest + len(path), nil
	case opCheck:
		return &zookeeper.CheckVersionRequest{Path: path, Version: o.version}, perRequest + len(path), nil
	default:
		return nil, 0, fmt.Errorf("the zero Op: %w", ErrBadArguments)
	}
}

func (s *Session) results(answers []zookeeper.MultiResponse) []Result {
	results := make([]Result, len(answers))
	for i, a := range answers {
		results[i].Stat = stat(a.Stat)
		if a.String != "" {
			results[i].Path = s.root.own(a.String)
		}
	}
	return results
}

// blame finds the operation that was refused: in the store's answer those before
// it have no error, and those after it one that says nothing.
func blame(ops []Op, answers []zookeeper.MultiResponse, err error) error {
	if err == nil {
		return nil
	}
	for i, a := range answers {
		if a.Error == nil || i >= len(ops) {
			continue
		}
		reason := refusal(a.Error)
		if reason == nil {
			reason = fmt.Errorf("%w: %w", ErrRefused, a.Error)
		}
		return &MultiError{i, ops[i], reason}
	}
	if reason := refusal(err); reason != nil && !inner(reason) {
		return &MultiError{Index: -1, Err: reason}
	}
	return err
}

// inner says that the reason is one that run acts on.
func inner(reason error) bool { return errors.Is(reason, errMoved) || errors.Is(reason, ErrExpired) }
