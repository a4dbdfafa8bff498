package main

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/typepb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The service is described by hand: bytes as google.protobuf.BytesValue, and a
// typed message of five fields as google.protobuf.Field.
var received atomic.Int64

type echoServer struct{}

func (echoServer) unary(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var in wrapperspb.BytesValue
	err := decode(&in)
	return &in, err
}

func (echoServer) count(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var in wrapperspb.BytesValue
	err := decode(&in)
	return wrapperspb.Int64(received.Load()), err
}

func echoStream[T any, P interface {
	*T
	proto.Message
}](_ any, s grpc.ServerStream) error {
	for {
		var in T
		if err := s.RecvMsg(P(&in)); err != nil {
			return err
		}
		if err := s.SendMsg(P(&in)); err != nil {
			return err
		}
	}
}

func sinkStream(_ any, s grpc.ServerStream) error {
	var in wrapperspb.BytesValue
	for {
		if err := s.RecvMsg(&in); err != nil {
			return err
		}
		received.Add(1)
	}
}

func serveGRPC() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server, e := grpc.NewServer(), echoServer{}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Unary", Handler: e.unary}, {MethodName: "Count", Handler: e.count}},
		Streams: []grpc.StreamDesc{
			{StreamName: "Stream", Handler: echoStream[wrapperspb.BytesValue], ServerStreams: true, ClientStreams: true},
			{StreamName: "Typed", Handler: echoStream[typepb.Field], ServerStreams: true, ClientStreams: true},
			{StreamName: "Sink", Handler: sinkStream, ServerStreams: true, ClientStreams: true},
		},
	}, e)
	go func() { _ = server.Serve(l) }()
	return l.Addr().String(), nil
}

func connectGRPC(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

type grpcUnary struct{ conn *grpc.ClientConn }

func dialGRPCUnary(addr string) (client, error) {
	conn, err := connectGRPC(addr)
	return &grpcUnary{conn}, err
}

func (g *grpcUnary) ask(payload []byte) error {
	var out wrapperspb.BytesValue
	return g.conn.Invoke(context.Background(), "/Echo/Unary", &wrapperspb.BytesValue{Value: payload}, &out)
}

func (g *grpcUnary) tell(payload []byte) error { return g.ask(payload) }

func (g *grpcUnary) received() (int64, error) {
	var out wrapperspb.Int64Value
	err := g.conn.Invoke(context.Background(), "/Echo/Count", &wrapperspb.BytesValue{}, &out)
	return out.Value, err
}

// grpcStream keeps many asks in flight on one stream: answers come in the order
// of the questions.
type grpcStream struct {
	grpcUnary
	sink    grpc.ClientStream
	stream  grpc.ClientStream
	request func(payload []byte) proto.Message

	mu      sync.Mutex
	waiting chan chan error
	slots   sync.Pool
}

func dialGRPCStream(addr string) (client, error) {
	return openStream(addr, "/Echo/Stream", func() proto.Message { return new(wrapperspb.BytesValue) },
		func(payload []byte) proto.Message { return &wrapperspb.BytesValue{Value: payload} })
}

func dialGRPCTyped(addr string) (client, error) {
	return openStream(addr, "/Echo/Typed", func() proto.Message { return new(typepb.Field) }, func([]byte) proto.Message {
		return &typepb.Field{Number: 42, Name: "name", TypeUrl: "type.example/some.Type", OneofIndex: 7, JsonName: "jsonName"}
	})
}

func openStream(addr, method string, reply func() proto.Message, request func([]byte) proto.Message) (client, error) {
	conn, err := connectGRPC(addr)
	if err != nil {
		return nil, err
	}
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := conn.NewStream(context.Background(), desc, method)
	if err != nil {
		return nil, err
	}
	sink, err := conn.NewStream(context.Background(), desc, "/Echo/Sink")
	if err != nil {
		return nil, err
	}
	g := &grpcStream{grpcUnary: grpcUnary{conn}, sink: sink, stream: stream, request: request, waiting: make(chan chan error, 4096)}
	g.slots.New = func() any { return make(chan error, 1) }
	go func() {
		for {
			err := stream.RecvMsg(reply())
			(<-g.waiting) <- err
			if err != nil {
				return
			}
		}
	}()
	return g, nil
}

func (g *grpcStream) ask(payload []byte) error {
	slot := g.slots.Get().(chan error)
	m := g.request(payload)
	g.mu.Lock()
	g.waiting <- slot
	err := g.stream.SendMsg(m)
	g.mu.Unlock()
	if err == nil {
		err = <-slot
	}
	g.slots.Put(slot)
	return err
}

func (g *grpcStream) tell(payload []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sink.SendMsg(&wrapperspb.BytesValue{Value: payload})
}
