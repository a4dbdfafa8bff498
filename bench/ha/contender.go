package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/zookeeper"
	"github.com/leatdata/leat/zk"
)

// contention is what a contender is told.
type contention struct {
	servers, name, storage string
	timeout                time.Duration
}

// compete is a process of ours that takes part until its standard input ends. It
// says "up", and "lead" with the time whenever it leads.
func compete(role string, c contention, stdin io.Reader, stdout io.Writer) error {
	leads := func() { fmt.Fprintf(stdout, "lead %d\n", time.Now().UnixNano()) }
	var stop func() error
	var err error
	switch role {
	case "zk":
		stop, err = c.recipe(leads)
	case "ha":
		stop, err = c.services(leads)
	default:
		return fmt.Errorf("there is no contender %q", role)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "up")
	_, _ = io.Copy(io.Discard, stdin)
	return stop()
}

// recipe is package zk's election.
func (c contention) recipe(leads func()) (stop func() error, err error) {
	client, err := zk.New(zk.Config{Servers: strings.Split(c.servers, ","), SessionTimeout: c.timeout})
	if err != nil {
		return nil, err
	}
	leader, err := zk.NewLeader(zk.LeaderConfig{
		Client: client, Path: "/recipe", Data: []byte(c.name),
		Lead: func(ctx context.Context, _ *zk.Term) {
			leads()
			<-ctx.Done()
		},
	})
	if err != nil {
		return nil, err
	}
	if err := client.Start(context.Background()); err != nil {
		return nil, err
	}
	if err := leader.Start(context.Background()); err != nil {
		return nil, err
	}
	return func() error {
		leader.Stop()
		client.Stop()
		return nil
	}, nil
}

// services is package ha's, with stores, marks and all.
func (c contention) services(leads func()) (stop func() error, err error) {
	services, err := zookeeper.New(context.Background(), ha.Config{
		Name: c.name, StorageDir: c.storage, SessionTimeout: c.timeout,
	}, zookeeper.Options{Quorum: strings.Split(c.servers, ",")})
	if err != nil {
		return nil, err
	}
	if err := services.Election("bench").Start(contender(leads)); err != nil {
		return nil, err
	}
	return func() error { return services.Close(context.Background()) }, nil
}

// contender tells of its grants.
type contender func()

func (c contender) Grant(context.Context, ha.SessionID, ha.Term) error {
	c()
	return nil
}
func (contender) Revoke()     {}
func (contender) Error(error) {}
