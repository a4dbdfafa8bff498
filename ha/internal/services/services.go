// Package services makes ha.Services of a coordination store and a place for
// blobs: an elector, and the stores on its sessions. ha/zookeeper, ha/etcd and
// ha/embedded are this and a coord.Store.
package services

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/ha/internal/records"
)

// Config is what services are made from. Store and Blobs have to be set.
type Config struct {
	ha.Config
	Store coord.Store
	Blobs ha.Blobs
	// Clock reckons trust; nil: election.BootTime.
	Clock election.Clock
	// Closed, if set, is called once when everything else has ended.
	Closed func() error
}

// Services implements ha.Services.
type Services struct {
	cfg     Config
	elector *election.Elector
	records *records.Base

	once  sync.Once
	ended error
}

var _ ha.Services = (*Services)(nil)

// New makes services, and begins to join the store.
func New(cfg Config) *Services {
	cfg.Config = cfg.WithDefaults()
	s := &Services{cfg: cfg}
	s.elector = election.New(election.Config{
		Store: cfg.Store, Marks: records.NewMarks(cfg.Blobs), Name: cfg.Name, Timeout: cfg.SessionTimeout,
		FencedRenewals: cfg.FencedRenewals, Clock: cfg.Clock, Logger: cfg.Logger,
		BeforeGrant: s.beforeGrant,
	})
	s.records = records.New(s.elector, cfg.Blobs, cfg.KeepCheckpoints, cfg.Logger)
	s.elector.Start()
	return s
}

// beforeGrant compares store and storage, where the storage is all masters' own.
func (s *Services) beforeGrant(ctx context.Context, session coord.Session, term ha.Term) error {
	if !s.cfg.ElectionOnly {
		return s.records.Reconcile(ctx, session, term)
	}
	return records.NewMarks(s.cfg.Blobs).Prune(ctx, term.Epoch)
}

// Election implements ha.Services.
func (s *Services) Election(component string) ha.Election { return s.elector.Component(component) }

// Retrieval implements ha.Services.
func (s *Services) Retrieval(component string) ha.Retrieval { return s.elector.Retrieval(component) }

// Checkpoints implements ha.Services.
func (s *Services) Checkpoints(job ha.JobID) ha.Checkpoints { return s.records.Checkpoints(job) }

// JobGraphs implements ha.Services.
func (s *Services) JobGraphs() ha.JobGraphs { return s.records.JobGraphs() }

// Jobs implements ha.Services.
func (s *Services) Jobs() ha.Jobs { return s.records.Jobs() }

// Blobs implements ha.Services.
func (s *Services) Blobs() ha.Blobs { return s.cfg.Blobs }

// Counters implements ha.Services.
func (s *Services) Counters() ha.Counters { return s.records.Counters() }

// Observe implements ha.Services.
func (s *Services) Observe(epoch ha.Epoch) { s.elector.Met(epoch) }

// State tells where in the election the process is, for tests and figures.
func (s *Services) State() election.State { return s.elector.State() }

// Status implements ha.Services.
func (s *Services) Status(ctx context.Context) (ha.Status, error) {
	link, err := s.elector.Link(ctx)
	if err != nil {
		return ha.Status{}, fmt.Errorf("ask who leads: %w", err)
	}
	holder, err := link.Session.Look(ctx)
	if err != nil {
		return ha.Status{}, fmt.Errorf("ask who leads: %w", err)
	}
	contenders, err := link.Session.List(ctx, coord.Contenders)
	if err != nil {
		return ha.Status{}, fmt.Errorf("list contenders: %w", err)
	}
	status := ha.Status{
		Held: holder.Held, Epoch: holder.Last.Number, Grant: holder.Last.Grant,
		Holder: holder.Last.Name, Since: holder.Last.Since,
	}
	for _, c := range contenders {
		status.Contenders = append(status.Contenders, string(c.Value))
	}
	return status, nil
}

// Close implements ha.Services.
func (s *Services) Close(ctx context.Context) error {
	return s.close(ctx, func() error { return nil })
}

// CloseAndCleanUp implements ha.Services.
func (s *Services) CloseAndCleanUp(ctx context.Context) error {
	return s.close(ctx, func() error {
		if err := s.elector.Withdraw(ctx); err != nil {
			return err
		}
		link, err := s.elector.Link(ctx)
		if err == nil {
			err = link.Session.Clean(ctx)
		}
		if err != nil {
			return fmt.Errorf("remove the cluster from the store: %w", err)
		}
		return s.records.Clean(ctx)
	})
}

func (s *Services) close(ctx context.Context, first func() error) error {
	s.once.Do(func() {
		s.ended = first()
		err := s.elector.Stop(ctx)
		s.records.Close()
		if s.cfg.Closed != nil {
			err = errors.Join(err, s.cfg.Closed())
		}
		if err = errors.Join(s.ended, err); err != nil {
			s.ended = fmt.Errorf("close high-availability services: %w", err)
		}
	})
	return s.ended
}
